/**
 * JSON Schemas of records and requests (contract, "Resources and their fields"). Decimals are
 * strings, int64 integers. Objects are closed: unknown fields are rejected.
 */
import { Type } from './schema-types.ts';
import type { Schema, Static } from './schema-types.ts';
import {
  CANDLE_INTERVALS,
  END_REASON_WORDS,
  INDEX_SOURCE_WORDS,
  LIQUIDATION_STEPS,
  MARK_SOURCE_WORDS,
  MARKET_STATUS_WORDS,
  ORDER_STATUS_WORDS,
  ORDER_TYPE_WORDS,
  TRANSFER_WORDS,
} from './words.ts';

const closed = { additionalProperties: false } as const;
const nullable = <T extends Schema>(schema: T) => Type.Union([schema, Type.Null()]);

/** */
export const Decimal = Type.String({ pattern: '^-?[0-9]+(\\.[0-9]+)?$', maxLength: 38 });
export const Address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
/** 64 hex digits; 0x is optional on input. */
export const OrderIdText = Type.String({ pattern: '^(0x)?[0-9a-fA-F]{64}$' });
export const FeedId = Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' });
export const Int64 = Type.Integer({ minimum: 0, format: 'int64' });
export const SubaccountIndex = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });
/** 1 to 64 printable ASCII characters. */
export const ClientId = Type.String({ pattern: '^[ -~]{1,64}$' });
export const Signatures = Type.Array(Type.String(), { maxItems: 16 });
/** Opaque position in a list, as returned with the previous page. */
export const Cursor = Type.String({ pattern: '^[0-9a-z.-]{1,200}$' });
export const Symbol = Type.String({ minLength: 1, maxLength: 64 });

/** Case-insensitive. */
export const OrderTypeText = Type.String({
  pattern: `^(${ORDER_TYPE_WORDS.map(caseless).join('|')})$`,
});
/** Of a record; which case it has is a parameter of the exchange. */
const RecordedOrderType = words([
  ...ORDER_TYPE_WORDS.slice(1),
  ...ORDER_TYPE_WORDS.slice(1).map(capital),
]);
export const CandleInterval = Type.Unsafe<(typeof CANDLE_INTERVALS)[number]>(
  Type.Union(CANDLE_INTERVALS.map((word) => Type.Literal(word))),
);

export const Flags = Type.Object(
  { ioc: Type.Boolean(), postOnly: Type.Boolean(), reduceOnly: Type.Boolean() },
  closed,
);
/** */
export const AttachedTrigger = Type.Object(
  {
    triggerPrice: Decimal,
    price: Type.Optional(nullable(Decimal)),
    clientId: Type.Optional(nullable(ClientId)),
  },
  closed,
);

export const OrderRequest = Type.Object(
  {
    account: Address,
    subaccountIndex: SubaccountIndex,
    symbol: Symbol,
    orderType: OrderTypeText,
    price: Decimal,
    quantity: Decimal,
    nonce: Int64,
    expiresAt: Int64,
    originator: Address,
    originatorFee: Int64,
    flags: Flags,
    signatures: Signatures,
    clientId: Type.Optional(nullable(ClientId)),
    triggerPrice: Type.Optional(nullable(Decimal)),
    parentOrderId: Type.Optional(nullable(Type.String({ pattern: '^((0x)?[0-9a-fA-F]{64})?$' }))),
    period: Type.Optional(nullable(Int64)),
    trailingPercent: Type.Optional(nullable(Decimal)),
    takeProfit: Type.Optional(nullable(AttachedTrigger)),
    stopLoss: Type.Optional(nullable(AttachedTrigger)),
  },
  closed,
);

export const OrderRecord = Type.Object({
  account: Address,
  clientId: nullable(Type.String()),
  createdAt: Int64,
  expiresAt: Int64,
  flags: Type.Object({
    ioc: Type.Boolean(),
    postOnly: Type.Boolean(),
    reduceOnly: Type.Boolean(),
    selfTradeExpire: Type.Integer({ minimum: 0, maximum: 2 }),
  }),
  groupId: nullable(Type.String()),
  lastUpdateSequenceNumber: Int64,
  nonce: Int64,
  ocoGroupId: nullable(Type.String()),
  orderId: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  orderType: RecordedOrderType,
  originator: Address,
  originatorFee: Int64,
  parentOrderId: nullable(Type.String()),
  period: nullable(Int64),
  price: Decimal,
  quantity: Decimal,
  reason: nullable(words(END_REASON_WORDS)),
  remaining: Decimal,
  settled: Decimal,
  status: words(ORDER_STATUS_WORDS),
  subaccountIndex: SubaccountIndex,
  symbol: Symbol,
  trailingPercent: nullable(Decimal),
  triggerPrice: nullable(Decimal),
  updatedAt: Int64,
});

export const AuthMessage = Type.Object({
  account: Type.String(),
  nonce: Type.String(),
  timestamp: Type.String(),
});
export const AuthChallenge = Type.Object({
  message: AuthMessage,
  server_signature: Type.String(),
  signing_payload: Type.String(),
});
export const Claims = Type.Object({ account: Type.String(), exp: Int64, iat: Int64 });
export const TokenRecord = Type.Object({ token: Type.String(), claims: Claims });

export const BalanceRecord = Type.Object({
  account: Address,
  balance: Decimal,
  subaccountIndex: SubaccountIndex,
  updatedAt: Int64,
});

export const StatsRecord = Type.Object({
  account: Address,
  accountValue: Decimal,
  crossEquity: Decimal,
  crossLeverage: Decimal,
  crossMarginRatio: Decimal,
  crossMarginUsage: Decimal,
  cumulativePnl: Decimal,
  freeCollateral: Decimal,
  freeCollateralCross: Decimal,
  initialMarginRequirement: Decimal,
  maintMargin: Decimal,
  netDeposits: Decimal,
  subaccountIndex: SubaccountIndex,
  upnl: Decimal,
});

export const TransferRecord = Type.Object({
  account: Address,
  amount: Decimal,
  counterpartyAccount: nullable(Address),
  counterpartySubaccountIndex: nullable(SubaccountIndex),
  subaccountIndex: SubaccountIndex,
  symbol: nullable(Type.String()),
  timestampMillis: Int64,
  transferType: words(TRANSFER_WORDS),
});

export const DelegateRecord = Type.Object({
  account: Address,
  delegate: Address,
  subaccountIndex: SubaccountIndex,
});
export const ClsSnapshot = Type.Object({
  account: Address,
  lockupEndsAt: Int64,
  netDeposits: Decimal,
  shares: Decimal,
  subaccountIndex: SubaccountIndex,
  timestamp: Int64,
  usdValue: Decimal,
});
export const CandleRecord = Type.Object({
  open: Decimal,
  high: Decimal,
  low: Decimal,
  close: Decimal,
  volume: Decimal,
  funding_rate: Decimal,
  time: Int64,
});
export const TradeRecord = Type.Object({
  price: Decimal,
  quantity: Decimal,
  symbol: Symbol,
  time: Int64,
});
export const LevelRecord = Type.Object({ price: Decimal, quantity: Decimal });
/** Current components of the mark; null if absent or not used by the market's mark. */
export const MarkCompositionRecord = Type.Object({
  source: words(MARK_SOURCE_WORDS),
  index: nullable(Decimal),
  smoothed: nullable(Decimal),
  last: nullable(Decimal),
  impactBid: nullable(Decimal),
  impactAsk: nullable(Decimal),
  lowest: nullable(Decimal),
  highest: nullable(Decimal),
});
/**
 * State of a market, in addition to the contract's fields of price and summary. Times are in ms.
 */
const MARKET_STATE = {
  status: words(MARKET_STATUS_WORDS),
  frozen: Type.Boolean(),
  frozenSince: nullable(Int64),
  indexTime: nullable(Int64),
  indexStale: Type.Boolean(),
  markComposition: MarkCompositionRecord,
  nextFundingTime: nullable(Int64),
  indicativeFundingRate: nullable(Decimal),
  fundingSamples: Int64,
};
export const SummaryRecord = Type.Object({
  bestBid: nullable(LevelRecord),
  bestOffer: nullable(LevelRecord),
  fundingRate: Decimal,
  notionalVolume: Decimal,
  openInterest: Decimal,
  price24hAgo: nullable(Decimal),
  symbol: Symbol,
  time: Int64,
  volume: Decimal,
  ...MARKET_STATE,
});
export const PriceRecord = Type.Object({
  bestBid: nullable(LevelRecord),
  bestOffer: nullable(LevelRecord),
  index: nullable(Decimal),
  mark: nullable(Decimal),
  midpoint: nullable(Decimal),
  symbol: Symbol,
  time: Int64,
  ...MARKET_STATE,
});
/**
 * Public record of a liquidation (§6), without the account. `event` is one of:
 * - `step`: a step of the liquidation ladder
 * - `transfer`: a position closed outside the book
 * - `shortfall`: a change of the shortfall balance
 * Fields that an event does not have are null.
 */
export const LiquidationRecord = Type.Object({
  event: Type.Union(['step', 'transfer', 'shortfall'].map((word) => Type.Literal(word))),
  /** `order`, `takeover`, `adl`, `insurance`, `shortfall`; of a transfer also `delisting`. */
  step: nullable(words(LIQUIDATION_STEPS)),
  /** null if the step concerns all cross positions of an account. */
  symbol: nullable(Symbol),
  isolated: nullable(Type.Boolean()),
  /** Signed. Order: its own quantity. Transfer: the closed quantity (long positive). */
  quantity: nullable(Decimal),
  /** Limit price of an order, or price of a transfer. */
  price: nullable(Decimal),
  equity: nullable(Decimal),
  maintenanceMargin: nullable(Decimal),
  amount: nullable(Decimal),
  /** Shortfall balance after the event, at most 0. */
  shortfall: nullable(Decimal),
  sequence_number: Int64,
  time: Int64,
});
export const BookRecord = Type.Object({
  bids: Type.Array(LevelRecord),
  asks: Type.Array(LevelRecord),
  sequence_number: Int64,
  time: Int64,
});
export const PositionRecord = Type.Object({
  account: Address,
  /** ADL rank, in fifths of the holders on one side: 5 is closed first; null if closed. */
  adlQuantile: nullable(Type.Integer({ minimum: 1, maximum: 5 })),
  basis: Decimal,
  entryPrice: Decimal,
  fees: Decimal,
  funding: Decimal,
  isolated: Type.Boolean(),
  liquidationPrice: nullable(Decimal),
  margin: Decimal,
  markPrice: Decimal,
  quantity: Decimal,
  subaccountIndex: SubaccountIndex,
  symbol: Symbol,
  updatedAt: Int64,
  upnl: Decimal,
});
export const MarginRecord = Type.Object({
  account: Address,
  isolated: Type.Boolean(),
  margin: Decimal,
  subaccountIndex: SubaccountIndex,
  symbol: Symbol,
});
export const SignersRecord = Type.Object({
  account: Address,
  signers: Type.Array(Address),
  quorum: Int64,
});
/** `shortfallPart`: part of a withdrawal of `amount` that goes to the shortfall. */
export const MaxTransferRecord = Type.Object({ amount: Decimal, shortfallPart: Decimal });
export const TierRecord = Type.Object({
  notionalFloor: Decimal,
  initialMargin: Decimal,
  maintenanceMargin: Decimal,
});
export const FundingRecord = Type.Object({
  source: words(['premium', 'external']),
  sampleIntervalMs: Int64,
  intervalMs: Int64,
  interest: Decimal,
  interestClamp: Decimal,
  divisor: Int64,
  cap: Decimal,
  marginCap: Decimal,
  impactNotional: Decimal,
});
/** Market terms that the operator may change. */
const MARKET_TERMS = {
  minQuantity: Decimal,
  maxQuantity: Decimal,
  maxOpenOrders: Int64,
  maxOpenInterest: Decimal,
  maxOpenInterestNotional: nullable(Decimal),
  priceBand: Decimal,
  makerFee: Decimal,
  takerFee: Decimal,
  marginTiers: Type.Array(TierRecord),
  maxMarkDeviation: Decimal,
  vaultQuote: Decimal,
  insuranceHourly: Decimal,
  openNotionalLower: nullable(Decimal),
  openNotionalUpper: nullable(Decimal),
  funding: FundingRecord,
};
export const MarketRecord = Type.Object({
  symbol: Symbol,
  feedId: FeedId,
  tickSize: Decimal,
  lotSize: Decimal,
  maxPrice: Decimal,
  markSource: words(MARK_SOURCE_WORDS),
  indexSource: words(INDEX_SOURCE_WORDS),
  initialMark: nullable(Decimal),
  recordedLiquidity: Type.Boolean(),
  ...MARKET_TERMS,
  status: words(MARKET_STATUS_WORDS),
  frozen: Type.Boolean(),
  frozenSince: nullable(Int64),
  /** Announced terms and the time at which they take effect (ms). */
  nextTerms: nullable(Type.Object({ effectiveAt: Int64, ...MARKET_TERMS })),
});
export const ConfigRecord = Type.Object({
  name: Type.String(),
  chainId: Int64,
  verifyingContract: Address,
  cashFeedId: FeedId,
  clsAccount: Address,
  collateralDecimals: Int64,
  indexStaleMs: Int64,
  marketDataTimeUnit: words(['ms', 's']),
  maxOriginatorFeePpm: Int64,
  maxDelegateOriginatorFeePpm: Int64,
  maxBatchOrders: Int64,
  /** null: no limit. */
  requestsPerSecond: nullable(Int64),
  selfTradeExpire: Int64,
  triggerSource: words(['mark', 'index', 'last']),
  vaultFeeShare: Decimal,
  insuranceFeeShare: Decimal,
  liquidationFee: Decimal,
  partialLiquidationNotional: Decimal,
  liquidationSlice: Decimal,
  liquidationPauseMs: Int64,
  minVaultDeposit: Decimal,
  vaultLockupMs: Int64,
  maxDelegates: Int64,
  maxSigners: Int64,
  frozenHaircut: Decimal,
  insuranceHourly: Decimal,
  vaultLeaveShare: Decimal,
  termsNoticeMs: Int64,
  insuranceAccount: Address,
  treasuryAccount: Address,
  shortfallAccount: Address,
  /** Shortfall balance, at most 0, and its start (ms). */
  shortfall: Decimal,
  shortfallSince: nullable(Int64),
  insuranceBalance: Decimal,
  /** Amount that insurance may still pay in this UTC hour. */
  insuranceAllowance: Decimal,
  /** Net asset value of the vault for withdrawals. */
  vaultNav: Decimal,
  vaultShares: Decimal,
  domain: Type.Record(Type.String(), Type.Unknown()),
  types: Type.Record(Type.String(), Type.Unknown()),
});
export const TimeRecord = Type.Object({ time: Int64 });
export const MessageRecord = Type.Object({ message: Type.String() });

export const TransferRequest = Type.Object(
  {
    accountFrom: Address,
    accountTo: Address,
    amount: Decimal,
    expiresAt: Int64,
    feedId: FeedId,
    nonce: Int64,
    signatures: Signatures,
    subaccountIndexFrom: SubaccountIndex,
    subaccountIndexTo: SubaccountIndex,
    target: Address,
  },
  closed,
);
export const DelegateRequest = Type.Object(
  {
    account: Address,
    delegate: Address,
    delegated: Type.Boolean(),
    expiresAt: Int64,
    nonce: Int64,
    signatures: Signatures,
    subaccountIndex: SubaccountIndex,
  },
  closed,
);
export const SignersRequest = Type.Object(
  {
    account: Address,
    expiresAt: Int64,
    nonce: Int64,
    quorum: Int64,
    signatures: Signatures,
    signers: Type.Array(Address, { minItems: 1, maxItems: 16 }),
  },
  closed,
);
export const MarginRequest = Type.Object(
  {
    account: Address,
    expiresAt: Int64,
    isolated: Type.Boolean(),
    margin: Decimal,
    nonce: Int64,
    signatures: Signatures,
    subaccountIndex: SubaccountIndex,
    symbol: Symbol,
  },
  closed,
);

export const OrderQuery = Type.Object(
  {
    orderId: Type.Optional(OrderIdText),
    clientId: Type.Optional(ClientId),
    account: Type.Optional(Address),
  },
  closed,
);
export const FILTER_FIELDS = {
  account: Address,
  subaccountIndex: SubaccountIndex,
  orderType: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  status: Type.Optional(
    Type.String({
      pattern: `^(${['open', 'active', 'filled', 'closed'].map(caseless).join('|')})$`,
    }),
  ),
  symbol: Type.Optional(Symbol),
  createdFrom: Type.Optional(Int64),
  createdTo: Type.Optional(Int64),
  updatedFrom: Type.Optional(Int64),
  updatedTo: Type.Optional(Int64),
  'submitted-on-or-after': Type.Optional(Int64),
  'submitted-before': Type.Optional(Int64),
  'updated-on-or-after': Type.Optional(Int64),
  'updated-before': Type.Optional(Int64),
};
export const BatchCancelRequest = Type.Object(
  {
    account: Type.Optional(nullable(Address)),
    clientIds: Type.Optional(nullable(Type.Array(Type.String(), { maxItems: 500 }))),
    orderIds: Type.Optional(nullable(Type.Array(Type.String(), { maxItems: 500 }))),
  },
  closed,
);
export const BatchCancelResponse = Type.Object({
  cancelled: Type.Array(OrderRecord),
  failed: Type.Array(
    Type.Object({ clientId: Type.String(), orderId: Type.String(), reason: Type.String() }),
  ),
});
export const FilterResponse = Type.Object({
  asks: Type.Array(OrderRecord),
  bids: Type.Array(OrderRecord),
  total: Int64,
});

export type OrderRecordShape = Static<typeof OrderRecord>;

/** One of these words. */
function words(list: readonly string[]) {
  return Type.Unsafe<string>(Type.String({ enum: [...list] }));
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Pattern that matches a word case-insensitively. */
function caseless(word: string): string {
  return Array.from(word)
    .map((letter) => {
      const other = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
      return `[${letter}${other}]`;
    })
    .join('');
}

export { Type, closed, nullable };
