/** Listing, prices and funding of markets: the fields of each command, in their order as bytes (codec.ts). */
import { marketId, ppb, priceTicks, timeUs } from '../../num/units.ts';
import type {
  AdvanceTime,
  DelistMarket,
  ListMarket,
  SetIndex,
  SetMarketStatus,
  SetMarketTerms,
  SetMark,
  SettleFunding,
} from '../../engine/commands.ts';
import { codeOf } from '../../base/code-of.ts';
import { BytesError } from './bytes.ts';
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

export const setMarketTerms: CommandFields<SetMarketTerms, null> = {
  empty: null,
  pass: (io, atUs, c) => {
    return {
      kind: 'setMarketTerms',
      timeUs: atUs,
      market: marketId(io.uint('market', c?.market ?? 0)),
      spec: io.spec('spec', c?.spec ?? null),
    };
  },
};

/** Numbers in the journal; append-only. */
export const SETTABLE_STATUSES = [
  'open',
  'postOnly',
  'reduceOnly',
  'cancelOnly',
  'halted',
] as const satisfies readonly SetMarketStatus['status'][];

export const setMarketStatus: CommandFields<SetMarketStatus> = {
  empty: {
    kind: 'setMarketStatus',
    timeUs: ANY_TIME,
    market: marketId(0),
    status: 'open',
  },
  pass: (io, atUs, c) => {
    const market = marketId(io.uint('market', c.market));
    const status = SETTABLE_STATUSES[io.uint('status', codeOf(SETTABLE_STATUSES, c.status))];
    if (status === undefined) throw new BytesError(0, 'status is not known to this version');
    return { kind: 'setMarketStatus', timeUs: atUs, market, status };
  },
};

export const delistMarket: CommandFields<DelistMarket> = {
  empty: {
    kind: 'delistMarket',
    timeUs: ANY_TIME,
    market: marketId(0),
    priceTicks: null,
  },
  pass: (io, atUs, c) => {
    const market = marketId(io.uint('market', c.market));
    const price = io.optionalUint('priceTicks', c.priceTicks);
    return {
      kind: 'delistMarket',
      timeUs: atUs,
      market,
      priceTicks: price === null ? null : priceTicks(price),
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
