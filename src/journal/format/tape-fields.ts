/** Recorded market data: the fields of each command, in their order as bytes (codec.ts). */
import { lots, marketId, priceTicks, timeUs } from '../../num/units.ts';
import type {
  TapeBar,
  TapeDepth,
  TapeGap,
  TapeL3,
  TapeSnapshot,
  TapeTrade,
} from '../../engine/commands.ts';
import { BAR_FILLS, BAR_PATHS, TAPE_L3_ACTIONS } from '../../engine/tape/hash-tape.ts';
import { BytesError } from './bytes.ts';
import type { CommandFields } from './field-io.ts';

const ANY_TIME = timeUs(0);

export const tapeDepth: CommandFields<TapeDepth> = {
  empty: {
    kind: 'tapeDepth',
    timeUs: ANY_TIME,
    market: marketId(0),
    levels: [],
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'tapeDepth',
      timeUs: atUs,
      market: marketId(io.uint('market', c.market)),
      levels: io.levels('levels', c.levels),
    };
  },
};

export const tapeTrade: CommandFields<TapeTrade> = {
  empty: {
    kind: 'tapeTrade',
    timeUs: ANY_TIME,
    market: marketId(0),
    priceTicks: priceTicks(0),
    lots: lots(0),
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'tapeTrade',
      timeUs: atUs,
      market: marketId(io.uint('market', c.market)),
      priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
      lots: lots(io.int('lots', c.lots)),
    };
  },
};

export const tapeSnapshot: CommandFields<TapeSnapshot> = {
  empty: {
    kind: 'tapeSnapshot',
    timeUs: ANY_TIME,
    market: marketId(0),
    levels: [],
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'tapeSnapshot',
      timeUs: atUs,
      market: marketId(io.uint('market', c.market)),
      levels: io.levels('levels', c.levels),
    };
  },
};

export const tapeGap: CommandFields<TapeGap> = {
  empty: {
    kind: 'tapeGap',
    timeUs: ANY_TIME,
    market: marketId(0),
  },
  pass: (io, atUs, c) => {
    return { kind: 'tapeGap', timeUs: atUs, market: marketId(io.uint('market', c.market)) };
  },
};

export const tapeBar: CommandFields<TapeBar> = {
  empty: {
    kind: 'tapeBar',
    timeUs: ANY_TIME,
    market: marketId(0),
    openTicks: priceTicks(0),
    highTicks: priceTicks(0),
    lowTicks: priceTicks(0),
    closeTicks: priceTicks(0),
    volumeLots: lots(0),
    quoteTicks: priceTicks(0),
    spreadTicks: 0,
    depthLots: lots(0),
    path: 'nearest',
    fill: 'touch',
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'tapeBar',
      timeUs: atUs,
      market: marketId(io.uint('market', c.market)),
      openTicks: priceTicks(io.uint('openTicks', c.openTicks)),
      highTicks: priceTicks(io.uint('highTicks', c.highTicks)),
      lowTicks: priceTicks(io.uint('lowTicks', c.lowTicks)),
      closeTicks: priceTicks(io.uint('closeTicks', c.closeTicks)),
      volumeLots: lots(io.uint('volumeLots', c.volumeLots)),
      quoteTicks: priceTicks(io.uint('quoteTicks', c.quoteTicks)),
      spreadTicks: io.uint('spreadTicks', c.spreadTicks),
      depthLots: lots(io.uint('depthLots', c.depthLots)),
      path: wordAt('bar path', BAR_PATHS, io.uint('path', BAR_PATHS.indexOf(c.path))),
      fill: wordAt('bar fill', BAR_FILLS, io.uint('fill', BAR_FILLS.indexOf(c.fill))),
    };
  },
};

export const tapeL3: CommandFields<TapeL3> = {
  empty: {
    kind: 'tapeL3',
    timeUs: ANY_TIME,
    market: marketId(0),
    action: 'add',
    ref: 0,
    side: 'bid',
    priceTicks: priceTicks(0),
    lots: lots(0),
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'tapeL3',
      timeUs: atUs,
      market: marketId(io.uint('market', c.market)),
      action: wordAt(
        'order action',
        TAPE_L3_ACTIONS,
        io.uint('action', TAPE_L3_ACTIONS.indexOf(c.action)),
      ),
      ref: io.uint('ref', c.ref),
      side: io.bool('bid', c.side === 'bid') ? 'bid' : 'ask',
      priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
      lots: lots(io.uint('lots', c.lots)),
    };
  },
};

function wordAt<T extends string>(what: string, words: readonly T[], index: number): T {
  const word = words[index];
  if (word === undefined) throw new BytesError(0, `${what} ${String(index)} is not known`);
  return word;
}
