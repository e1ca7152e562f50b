/** Listing, prices and funding of markets: the fields of each command, in their order as bytes (codec.ts). */
import { marketId, ppb, priceTicks, timeUs } from '../../num/units.ts';
import type {
  AdvanceTime,
  ListMarket,
  SetIndex,
  SetMark,
  SettleFunding,
} from '../../engine/commands.ts';
import type { CommandFields } from './field-io.ts';

const ANY_TIME = timeUs(0);

export const listMarket: CommandFields<ListMarket, null> = {
  empty: null,
  pass: (io, atUs, c) => {
    return { kind: 'listMarket', timeUs: atUs, spec: io.spec('spec', c?.spec ?? null) };
  },
};

export const setIndex: CommandFields<SetIndex> = {
  empty: {
    kind: 'setIndex',
    timeUs: ANY_TIME,
    market: marketId(0),
    priceTicks: priceTicks(0),
    text: '',
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'setIndex',
      timeUs: atUs,
      market: marketId(io.uint('market', c.market)),
      priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
      text: io.text('text', c.text),
    };
  },
};

export const setMark: CommandFields<SetMark> = {
  empty: {
    kind: 'setMark',
    timeUs: ANY_TIME,
    market: marketId(0),
    priceTicks: priceTicks(0),
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'setMark',
      timeUs: atUs,
      market: marketId(io.uint('market', c.market)),
      priceTicks: priceTicks(io.uint('priceTicks', c.priceTicks)),
    };
  },
};

export const settleFunding: CommandFields<SettleFunding> = {
  empty: {
    kind: 'settleFunding',
    timeUs: ANY_TIME,
    market: marketId(0),
    ratePpb: ppb(0),
  },
  pass: (io, atUs, c) => {
    return {
      kind: 'settleFunding',
      timeUs: atUs,
      market: marketId(io.uint('market', c.market)),
      ratePpb: ppb(io.int('ratePpb', c.ratePpb)),
    };
  },
};

export const advanceTime: CommandFields<AdvanceTime> = {
  empty: {
    kind: 'advanceTime',
    timeUs: ANY_TIME,
  },
  pass: (_io, atUs) => {
    return { kind: 'advanceTime', timeUs: atUs };
  },
};
