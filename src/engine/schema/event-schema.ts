/**
 * The schema of events: kind → tag and fields. Of each field it says how it enters the chain hash,
 * or that what is hashed before it fixes it: the command, or the order that an id names. Tags and
 * codes are append-only.
 */
import { codesOf } from '../../base/code-of.ts';
import { ORDER_STATUSES } from '../book/order-table.ts';
import type { Cause, EngineEvent, LedgerReason } from '../events.ts';
import { ORDER_TYPES } from '../orders/order-types.ts';
import { END_REASONS } from '../refusals.ts';
import { MARKET_SPEC, MARKET_STATUS, SELF_TRADE_MODE } from './config-schema.ts';
import {
  hashedAs,
  list,
  optional,
  record,
  word,
  type RecordType,
  type Shape,
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
  SHARES,
  SUBACCOUNT,
  TEXT,
  TICKS,
  TIME,
  TRADE,
  WIDE_COUNT,
} from './units.ts';

export type EventKind = EngineEvent['kind'];
export type EventOf<Kind extends EventKind> = Extract<EngineEvent, { readonly kind: Kind }>;

/** Numbers in the chain hash; append-only. */
export const CAUSES: readonly Cause[] = [
  'command',
  'expiry',
  'timer',
  'tape',
  'tapeCross',
  'trigger',
  'twap',
  'iceberg',
  'funding',
  'liquidation',
  'adl',
  'delisting',
  'vault',
];

export const LEDGER_REASONS = [
  'deposit',
  'withdrawal',
  'transferIn',
  'transferOut',
  'clsDeposit',
  'clsWithdrawal',
  'realizedPnl',
  'fee',
  'originatorFee',
  'feeShare',
  'funding',
  'rounding',
  'isolatedMargin',
  'liquidationFee',
  'insurance',
  'adl',
  'takeover',
  'shortfall',
  'insuranceRepaid',
  'delisting',
] as const satisfies readonly LedgerReason[];

/** Index of a ledger reason in `LEDGER_REASONS`. */
export const LEDGER_CODES = codesOf(LEDGER_REASONS);

export const TAPE_UPDATES = ['depth', 'trade', 'snapshot', 'gap', 'bar', 'l3'] as const;

export const LIQUIDATION_STEPS = [
  'cancelOrders',
  'order',
  'insurance',
  'takeover',
  'adl',
  'safe',
  'shortfall',
] as const;

const LEDGER_REASON = word(LEDGER_REASONS);
/** An ended order has one of three, with the codes of the whole list. */
const ORDER_STATUS: Shape = word(ORDER_STATUSES);
/** Null, or a code from 1. */
const END_REASON = word(END_REASONS, { base: 1 });
/** Null as tick 0, which is no price. */
const NO_TICKS = { none: 0 };

/** Of an order that is named by its id. */
const OF_ORDER = ['subaccount', 'market'] as const;
const TERMS = {
  orderId: ORDER,
  subaccount: SUBACCOUNT,
  market: MARKET,
  orderType: word(ORDER_TYPES),
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
};
type OfCommand = Exclude<keyof typeof TERMS, 'orderId'>;
const OF_COMMAND = Object.keys(TERMS).filter((name) => name !== 'orderId') as OfCommand[];

export interface EventSchema<E> {
  readonly tag: number;
  readonly body: RecordType<E>;
}

export const EVENTS: { readonly [Kind in EventKind]: EventSchema<EventOf<Kind>> } = {
  orderAccepted: {
    tag: 1,
    body: hashedAs(record<EventOf<'orderAccepted'>>(TERMS), ['orderId', { fixed: OF_COMMAND }]),
  },
  orderRejected: {
    tag: 2,
    body: hashedAs(record<EventOf<'orderRejected'>>({ ...TERMS, reason: END_REASON }), [
      'orderId',
      'reason',
      { fixed: OF_COMMAND },
    ]),
  },
  orderRested: {
    tag: 3,
    body: hashedAs(
      record<EventOf<'orderRested'>>({
        orderId: ORDER,
        subaccount: SUBACCOUNT,
        market: MARKET,
        priceTicks: TICKS,
        remainingLots: LOTS,
      }),
      ['orderId', 'priceTicks', 'remainingLots', { fixed: OF_ORDER }],
    ),
  },
  orderFilled: {
    tag: 4,
    body: hashedAs(
      record<EventOf<'orderFilled'>>({
        orderId: ORDER,
        subaccount: SUBACCOUNT,
        market: MARKET,
        tradeId: TRADE,
        role: word(['maker', 'taker']),
        priceTicks: TICKS,
        lots: LOTS,
        remainingLots: LOTS,
        feeQuanta: QUANTA,
        originatorFeeQuanta: QUANTA,
        realizedPnlQuanta: QUANTA,
        realizedFundingQuanta: QUANTA,
      }),
      [
        'orderId',
        'role',
        'tradeId',
        'priceTicks',
        'lots',
        'remainingLots',
        'feeQuanta',
        'originatorFeeQuanta',
        'realizedPnlQuanta',
        'realizedFundingQuanta',
        { fixed: OF_ORDER },
      ],
    ),
  },
  orderReleased: {
    tag: 5,
    body: hashedAs(
      record<EventOf<'orderReleased'>>({
        orderId: ORDER,
        subaccount: SUBACCOUNT,
        market: MARKET,
        triggerTicks: optional(TICKS, NO_TICKS),
        sourceTicks: optional(TICKS, NO_TICKS),
      }),
      ['orderId', 'triggerTicks', 'sourceTicks', { fixed: OF_ORDER }],
    ),
  },
  orderEnded: {
    tag: 6,
    body: hashedAs(
      record<EventOf<'orderEnded'>>({
        orderId: ORDER,
        subaccount: SUBACCOUNT,
        market: MARKET,
        status: ORDER_STATUS,
        reason: optional(END_REASON, { none: 0 }),
        remainingLots: LOTS,
      }),
      ['orderId', 'status', 'reason', 'remainingLots', { fixed: OF_ORDER }],
    ),
  },
  tradePrinted: {
    tag: 7,
    body: record({ market: MARKET, tradeId: TRADE, priceTicks: TICKS, lots: LOTS }),
  },
  balanceChanged: {
    tag: 8,
    body: record({
      subaccount: SUBACCOUNT,
      reason: LEDGER_REASON,
      deltaQuanta: QUANTA,
      balanceQuanta: QUANTA,
    }),
  },
  positionChanged: {
    tag: 9,
    body: record({ subaccount: SUBACCOUNT, market: MARKET, lots: LOTS, costQuanta: QUANTA }),
  },
  oracleSet: { tag: 10, body: record({ market: MARKET, indexTicks: TICKS }) },
  markChanged: {
    tag: 11,
    body: record({ market: MARKET, markTicks: TICKS, indexTicks: optional(TICKS, NO_TICKS) }),
  },
  nonceUsed: { tag: 12, body: record({ account: ACCOUNT, nonce: NONCE }) },
  selfTradeModeChanged: {
    tag: 13,
    body: record({ account: ACCOUNT, mode: optional(SELF_TRADE_MODE) }),
  },
  marketListed: {
    tag: 14,
    body: hashedAs(record<EventOf<'marketListed'>>({ market: MARKET, spec: MARKET_SPEC }), [
      'market',
      { fixed: ['spec'] },
    ]),
  },
  tapeApplied: {
    tag: 15,
    body: hashedAs(
      record<EventOf<'tapeApplied'>>({
        market: MARKET,
        what: word(TAPE_UPDATES),
        bestBidTicks: optional(TICKS, NO_TICKS),
        bestBidLots: LOTS,
        bestAskTicks: optional(TICKS, NO_TICKS),
        bestAskLots: LOTS,
        stale: BOOLEAN,
      }),
      [
        'market',
        { bits: { what: 0, stale: 3 } },
        'bestBidTicks',
        'bestBidLots',
        'bestAskTicks',
        'bestAskLots',
      ],
    ),
  },
  orderPending: {
    tag: 16,
    body: hashedAs(
      record<EventOf<'orderPending'>>({ orderId: ORDER, subaccount: SUBACCOUNT, market: MARKET }),
      ['orderId', { fixed: OF_ORDER }],
    ),
  },
  isolatedMarginChanged: {
    tag: 17,
    body: record({
      subaccount: SUBACCOUNT,
      market: MARKET,
      reason: LEDGER_REASON,
      deltaQuanta: QUANTA,
      marginQuanta: QUANTA,
    }),
  },
  marginChanged: {
    tag: 18,
    body: record({ subaccount: SUBACCOUNT, market: MARKET, isolated: BOOLEAN, marginPpm: PPM }),
  },
  fundingSampled: {
    tag: 19,
    body: record({ market: MARKET, premiumPpb: PPB, samples: WIDE_COUNT }),
  },
  fundingSettled: {
    tag: 20,
    body: record({
      market: MARKET,
      ratePpb: PPB,
      indexTicks: optional(TICKS, NO_TICKS),
      positions: WIDE_COUNT,
      roundingQuanta: QUANTA,
    }),
  },
  liquidationStep: {
    tag: 21,
    body: hashedAs(
      record<EventOf<'liquidationStep'>>({
        subaccount: SUBACCOUNT,
        market: optional(MARKET),
        isolated: BOOLEAN,
        step: word(LIQUIDATION_STEPS),
        equityQuanta: QUANTA,
        maintenanceQuanta: QUANTA,
        orders: WIDE_COUNT,
        lots: LOTS,
        limitTicks: optional(TICKS),
        bankruptcyTicks: optional(TICKS),
        amountQuanta: QUANTA,
      }),
      [
        'subaccount',
        'market',
        { bits: { step: 0, isolated: 3 } },
        'equityQuanta',
        'maintenanceQuanta',
        'orders',
        'lots',
        'limitTicks',
        'bankruptcyTicks',
        'amountQuanta',
      ],
    ),
  },
  positionTransferred: {
    tag: 22,
    body: record({
      market: MARKET,
      from: SUBACCOUNT,
      to: SUBACCOUNT,
      reason: word(['takeover', 'adl', 'delisting']),
      lots: LOTS,
      priceTicks: TICKS,
      moneyQuanta: QUANTA,
      fromRealizedQuanta: QUANTA,
      toRealizedQuanta: QUANTA,
      fromFundingQuanta: QUANTA,
      toFundingQuanta: QUANTA,
    }),
  },
  vaultSharesChanged: {
    tag: 23,
    body: record({
      subaccount: SUBACCOUNT,
      change: SHARES,
      shares: SHARES,
      totalShares: SHARES,
      amountQuanta: QUANTA,
      lockupEndsAtUs: TIME,
    }),
  },
  delegateChanged: {
    tag: 24,
    body: record({
      account: ACCOUNT,
      subaccountIndex: COUNT,
      delegate: ACCOUNT,
      delegated: BOOLEAN,
    }),
  },
  signersChanged: {
    tag: 25,
    body: record({ account: ACCOUNT, signers: list(ADDRESS), quorum: WIDE_COUNT }),
  },
  marketFrozen: { tag: 26, body: record({ market: MARKET, frozen: BOOLEAN, sinceUs: TIME }) },
  marketTermsChanged: {
    tag: 27,
    body: record({
      market: MARKET,
      spec: MARKET_SPEC,
      nextSpec: optional(MARKET_SPEC),
      effectiveUs: optional(TIME),
    }),
  },
  marketStatusChanged: { tag: 28, body: record({ market: MARKET, status: MARKET_STATUS }) },
  marketDelisted: { tag: 29, body: record({ market: MARKET, priceTicks: TICKS }) },
};
