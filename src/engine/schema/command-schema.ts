/**
 * The schema of commands: kind → tag and fields. Chain hash, journal, JSON and the shrinker's id
 * mapping are made from it.
 *
 * Tags and the order of fields are append-only, since journals outlive programs. `timeUs` is no
 * field here: it is in the journal's frame, and follows the tag in the chain hash.
 */
import { ORDER_TYPES } from '../orders/order-types.ts';
import type {
  Command,
  CommandKind,
  Deposit,
  NewOrder,
  SetMarketStatus,
  Side,
  TapeLevel,
  Withdraw,
} from '../commands.ts';
import { BAR_FILLS, BAR_PATHS, TAPE_L3_ACTIONS } from '../tape/hash-tape.ts';
import { MARKET_SPEC, SELF_TRADE_MODE } from './config-schema.ts';
import {
  hashedAs,
  list,
  optional,
  packedAs,
  record,
  word,
  type RecordShape,
  type RecordType,
} from './field-types.ts';
import {
  ACCOUNT,
  ADDRESS,
  BOOLEAN,
  COUNT,
  LOTS,
  MARKET,
  MILLISECONDS,
  NONCE,
  ORDER,
  PPB,
  PPM,
  QUANTA,
  SIZE,
  SUBACCOUNT,
  TEXT,
  TICKS,
  WIDE_COUNT,
} from './units.ts';

export type CommandOf<Kind extends CommandKind> = Extract<Command, { readonly kind: Kind }>;

export interface CommandSchema<C> {
  /** In the journal and in the chain hash; never given to another kind. */
  readonly tag: number;
  readonly body: RecordType<C>;
}

/** Numbers in the journal; append-only. */
export const SIDES: readonly Side[] = ['ask', 'bid'];

const NEW_ORDER = hashedAs(
  record<NewOrder>({
    market: MARKET,
    orderType: word(ORDER_TYPES),
    lots: LOTS,
    priceTicks: TICKS,
    ioc: BOOLEAN,
    postOnly: BOOLEAN,
    reduceOnly: BOOLEAN,
    nonce: NONCE,
    expiresAtMs: MILLISECONDS,
    clientId: optional(TEXT),
    originator: optional(ADDRESS),
    originatorFeePpm: PPM,
    triggerTicks: optional(TICKS),
    trailingPpm: optional(COUNT),
    periodMs: optional(MILLISECONDS, { jsonFlag: 'timed' }),
    parent: optional(ORDER, { none: 0 }),
    attached: BOOLEAN,
  }),
  [
    'market',
    { bits: { orderType: 0, ioc: 3, postOnly: 4, reduceOnly: 5, attached: 6 } },
    'lots',
    'priceTicks',
    'nonce',
    'expiresAtMs',
    'clientId',
    'originator',
    'originatorFeePpm',
    'triggerTicks',
    'trailingPpm',
    'periodMs',
    'parent',
  ],
);

const TAPE_LEVEL = packedAs(
  hashedAs(record<TapeLevel>({ side: word(SIDES), priceTicks: TICKS, lots: SIZE }), [
    { sign: 'side', of: 'priceTicks' },
    'lots',
  ]),
  { flag: 'side', of: 'priceTicks' },
);

const MONEY = { account: ADDRESS, subaccountIndex: COUNT, amount: QUANTA };

export const COMMANDS: { readonly [Kind in CommandKind]: CommandSchema<CommandOf<Kind>> } = {
  placeOrder: {
    tag: 1,
    body: hashedAs(
      record<CommandOf<'placeOrder'>>({
        subaccount: SUBACCOUNT,
        market: MARKET,
        orderType: word(['limit']),
        lots: LOTS,
        priceTicks: TICKS,
        ioc: BOOLEAN,
        postOnly: BOOLEAN,
        reduceOnly: BOOLEAN,
        nonce: NONCE,
        expiresAtMs: MILLISECONDS,
        delegate: optional(ACCOUNT),
        clientId: optional(TEXT),
        originator: optional(ADDRESS),
        originatorFeePpm: PPM,
      }),
      [
        'subaccount',
        'market',
        { bits: { orderType: 0, ioc: 3, postOnly: 4, reduceOnly: 5 } },
        'lots',
        'priceTicks',
        'nonce',
        'expiresAtMs',
        'delegate',
        'clientId',
        'originator',
        'originatorFeePpm',
      ],
    ),
  },
  cancelOrder: { tag: 2, body: record({ orderId: ORDER }) },
  advanceTime: { tag: 3, body: record({}) },
  tapeDepth: { tag: 4, body: record({ market: MARKET, levels: list(TAPE_LEVEL) }) },
  tapeTrade: { tag: 5, body: record({ market: MARKET, priceTicks: TICKS, lots: LOTS }) },
  setIndex: { tag: 6, body: record({ market: MARKET, priceTicks: TICKS, text: TEXT }) },
  setMark: { tag: 7, body: record({ market: MARKET, priceTicks: TICKS }) },
  cancelAll: { tag: 8, body: record({ subaccount: SUBACCOUNT, market: optional(MARKET) }) },
  deposit: { tag: 9, body: record(MONEY) },
  withdraw: { tag: 10, body: record(MONEY) },
  transfer: {
    tag: 11,
    body: record({
      from: ADDRESS,
      fromIndex: COUNT,
      to: ADDRESS,
      toIndex: COUNT,
      amount: QUANTA,
      market: optional(MARKET),
      signer: ADDRESS,
      nonce: NONCE,
      expiresAtMs: MILLISECONDS,
    }),
  },
  setSelfTradeMode: {
    tag: 12,
    body: record({ account: ADDRESS, mode: optional(SELF_TRADE_MODE) }),
  },
  tapeSnapshot: { tag: 13, body: record({ market: MARKET, levels: list(TAPE_LEVEL) }) },
  tapeGap: { tag: 14, body: record({ market: MARKET }) },
  listMarket: { tag: 15, body: record({ spec: MARKET_SPEC }) },
  placeOrders: {
    tag: 16,
    body: record({ subaccount: SUBACCOUNT, delegate: optional(ACCOUNT), orders: list(NEW_ORDER) }),
  },
  updateMargin: {
    tag: 17,
    body: record({
      subaccount: SUBACCOUNT,
      market: MARKET,
      isolated: BOOLEAN,
      marginPpm: PPM,
      nonce: NONCE,
      expiresAtMs: MILLISECONDS,
      delegate: optional(ACCOUNT),
    }),
  },
  updateDelegate: {
    tag: 18,
    body: record({
      account: ADDRESS,
      subaccountIndex: COUNT,
      delegate: ADDRESS,
      delegated: BOOLEAN,
      nonce: NONCE,
      expiresAtMs: MILLISECONDS,
    }),
  },
  updateSigners: {
    tag: 19,
    body: record({
      account: ADDRESS,
      signers: list(ADDRESS),
      quorum: WIDE_COUNT,
      nonce: NONCE,
      expiresAtMs: MILLISECONDS,
    }),
  },
  settleFunding: { tag: 20, body: record({ market: MARKET, ratePpb: PPB }) },
  tapeBar: {
    tag: 21,
    body: hashedAs(
      record<CommandOf<'tapeBar'>>({
        market: MARKET,
        openTicks: TICKS,
        highTicks: TICKS,
        lowTicks: TICKS,
        closeTicks: TICKS,
        volumeLots: SIZE,
        quoteTicks: TICKS,
        spreadTicks: COUNT,
        depthLots: SIZE,
        path: word(BAR_PATHS),
        fill: word(BAR_FILLS),
      }),
      [
        'market',
        'openTicks',
        'highTicks',
        'lowTicks',
        'closeTicks',
        'volumeLots',
        'quoteTicks',
        'depthLots',
        'spreadTicks',
        { bits: { path: 3, fill: 0 } },
      ],
    ),
  },
  tapeL3: {
    tag: 22,
    body: hashedAs(
      record<CommandOf<'tapeL3'>>({
        market: MARKET,
        action: word(TAPE_L3_ACTIONS),
        ref: WIDE_COUNT,
        side: word(SIDES, { jsonFlag: 'bid' }),
        priceTicks: TICKS,
        lots: SIZE,
      }),
      ['market', 'action', 'ref', { sign: 'side', of: 'priceTicks' }, 'lots'],
    ),
  },
  setMarketTerms: { tag: 23, body: record({ market: MARKET, spec: MARKET_SPEC }) },
  setMarketStatus: {
    tag: 24,
    body: record({
      market: MARKET,
      status: word<SetMarketStatus['status']>(
        ['open', 'postOnly', 'reduceOnly', 'cancelOnly', 'halted'],
        { hashedAs: 'text' },
      ),
    }),
  },
  delistMarket: { tag: 25, body: record({ market: MARKET, priceTicks: optional(TICKS) }) },
  tapeQuotes: { tag: 28, body: record({ market: MARKET, levels: list(TAPE_LEVEL) }) },
};

interface AnySchema {
  readonly tag: number;
  readonly body: RecordShape;
}

/**
 * Deposits and withdrawals with a reference, under tags of their own: those without one keep their
 * bytes and their hash.
 */
export const REFERENCED = {
  deposit: { tag: 26, body: record<Required<Deposit>>({ ...MONEY, reference: TEXT }) },
  withdraw: { tag: 27, body: record<Required<Withdraw>>({ ...MONEY, reference: TEXT }) },
} as const;

/** The schema of this command. */
export function schemaOf(command: Command): AnySchema {
  const { kind } = command;
  if ((kind === 'deposit' || kind === 'withdraw') && command.reference !== undefined) {
    return REFERENCED[kind];
  }
  return COMMANDS[kind];
}
