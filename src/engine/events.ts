/**
 * Events: what happened (DESIGN §10). Fresh plain objects, pushed into the caller's sink in causal order:
 * taker accepted → per fill (trade, maker, taker, ledger, positions) → rest or end → consequences.
 *
 * Every event carries `seq` (the command that caused it), `index` (its place among that command's events, from 0),
 * `timeUs` (when it happened: a timer's own time, else the command's) and `cause`.
 */
import type { MarketSpec, MarketStatus, SelfTradeMode } from './config.ts';
import type { OrderType } from './commands.ts';
import type { EndReason } from './refusals.ts';
import type {
  AccountId,
  Address,
  Lots,
  MarketId,
  OrderId,
  Ppb,
  Ppm,
  PriceTicks,
  Quanta,
  Seq,
  SubaccountId,
  TimeUs,
  TradeId,
} from '../num/units.ts';

/** What set the event off. `tapeCross` is a historical level that crossed a user's order. */
export type Cause =
  | 'command'
  | 'expiry'
  | 'timer'
  | 'tape'
  | 'tapeCross'
  | 'trigger'
  | 'twap'
  | 'iceberg'
  | 'funding'
  | 'liquidation'
  | 'adl'
  | 'delisting'
  | 'vault';

interface EventBase {
  readonly seq: Seq;
  readonly index: number;
  readonly timeUs: TimeUs;
  readonly cause: Cause;
}

/** The full identity and terms of an order that was admitted. Its status is `new`. */
export interface OrderAccepted extends EventBase {
  readonly kind: 'orderAccepted';
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly orderType: OrderType;
  readonly lots: Lots;
  readonly priceTicks: PriceTicks;
  readonly ioc: boolean;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly nonce: bigint;
  readonly expiresAtMs: bigint;
  readonly delegate: AccountId | null;
  readonly clientId: string | null;
  readonly originator: Address | null;
  readonly originatorFeePpm: Ppm;
}

/** An admitted order that a later check turned down: a record with status `rejected`. Terms as in `orderAccepted`. */
export interface OrderRejected extends EventBase {
  readonly kind: 'orderRejected';
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly orderType: OrderType;
  readonly lots: Lots;
  readonly priceTicks: PriceTicks;
  readonly ioc: boolean;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly nonce: bigint;
  readonly expiresAtMs: bigint;
  readonly delegate: AccountId | null;
  readonly clientId: string | null;
  readonly originator: Address | null;
  readonly originatorFeePpm: Ppm;
  readonly reason: EndReason;
}

/** What is left of the order now stands on the book. */
export interface OrderRested extends EventBase {
  readonly kind: 'orderRested';
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly priceTicks: PriceTicks;
  /** Signed. */
  readonly remainingLots: Lots;
}

/** One side of a fill. House sides (the tape) have no order and no such event. */
export interface OrderFilled extends EventBase {
  readonly kind: 'orderFilled';
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly tradeId: TradeId;
  readonly role: 'maker' | 'taker';
  readonly priceTicks: PriceTicks;
  /** Signed by this order's side. */
  readonly lots: Lots;
  /** What is left of the order after this fill; signed. */
  readonly remainingLots: Lots;
  /** Protocol fee charged to this side; negative for a rebate. */
  readonly feeQuanta: Quanta;
  readonly originatorFeeQuanta: Quanta;
  /** Realised by what this fill closed, before fees and funding. */
  readonly realizedPnlQuanta: Quanta;
  /** Funding that what it closed had received, less what it had paid; booked already when it was settled. */
  readonly realizedFundingQuanta: Quanta;
}

/** An accepted order now waits: for its trigger, its time, its turn, or its parent's first fill. */
export interface OrderPending extends EventBase {
  readonly kind: 'orderPending';
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
}

/** A waiting order became an ordinary order: its trigger fired, its time came, or the slice before it was filled. */
export interface OrderReleased extends EventBase {
  readonly kind: 'orderReleased';
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  /** The price that fired it and what it was held against; null for slices. */
  readonly triggerTicks: PriceTicks | null;
  readonly sourceTicks: PriceTicks | null;
}

/** The order is over. Terminal is terminal. */
export interface OrderEnded extends EventBase {
  readonly kind: 'orderEnded';
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly status: 'filled' | 'cancelled' | 'expired';
  readonly reason: EndReason | null;
  /** Unfilled part; signed. */
  readonly remainingLots: Lots;
}

/** A print: one match on the public tape. */
export interface TradePrinted extends EventBase {
  readonly kind: 'tradePrinted';
  readonly market: MarketId;
  readonly tradeId: TradeId;
  readonly priceTicks: PriceTicks;
  /** Signed by the taker's side. */
  readonly lots: Lots;
}

/** Why cash moved. */
export type LedgerReason =
  | 'deposit'
  | 'withdrawal'
  | 'transferIn'
  | 'transferOut'
  | 'clsDeposit'
  | 'clsWithdrawal'
  | 'realizedPnl'
  | 'fee'
  | 'originatorFee'
  | 'feeShare'
  | 'funding'
  | 'rounding'
  | 'isolatedMargin'
  | 'liquidationFee'
  | 'insurance'
  | 'adl'
  | 'takeover'
  | 'shortfall'
  | 'insuranceRepaid'
  | 'delisting';

/** One ledger entry: `deltaQuanta` was added to the subaccount's cash, which is now `balanceQuanta`. */
export interface BalanceChanged extends EventBase {
  readonly kind: 'balanceChanged';
  readonly subaccount: SubaccountId;
  readonly reason: LedgerReason;
  readonly deltaQuanta: Quanta;
  readonly balanceQuanta: Quanta;
}

/** A position after a fill (or settlement): signed lots and signed cost. */
export interface PositionChanged extends EventBase {
  readonly kind: 'positionChanged';
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly lots: Lots;
  readonly costQuanta: Quanta;
}

/** The oracle's price was taken over. */
export interface OracleSet extends EventBase {
  readonly kind: 'oracleSet';
  readonly market: MarketId;
  readonly indexTicks: PriceTicks;
}

/** Mark or index after a recomputation that changed one of them. */
export interface MarkChanged extends EventBase {
  readonly kind: 'markChanged';
  readonly market: MarketId;
  readonly markTicks: PriceTicks;
  /** null while the market has none. */
  readonly indexTicks: PriceTicks | null;
}

/** A nonce was used outside an order (an order's own events say so for orders). */
export interface NonceUsed extends EventBase {
  readonly kind: 'nonceUsed';
  readonly account: AccountId;
  readonly nonce: bigint;
}

export interface SelfTradeModeChanged extends EventBase {
  readonly kind: 'selfTradeModeChanged';
  readonly account: AccountId;
  readonly mode: SelfTradeMode | null;
}

export interface MarketListed extends EventBase {
  readonly kind: 'marketListed';
  readonly market: MarketId;
  readonly spec: MarketSpec;
}

/** A tape command took effect; counts are of levels touched. */
export interface TapeApplied extends EventBase {
  readonly kind: 'tapeApplied';
  readonly market: MarketId;
  readonly what: 'depth' | 'trade' | 'snapshot' | 'gap' | 'bar' | 'l3';
  readonly bestBidTicks: PriceTicks | null;
  readonly bestBidLots: Lots;
  readonly bestAskTicks: PriceTicks | null;
  readonly bestAskLots: Lots;
  /** True when the command was skipped because the market waits for a snapshot. */
  readonly stale: boolean;
}

/** The same for the margin of an isolated position; reason `isolatedMargin` moves it from or to cash. */
export interface IsolatedMarginChanged extends EventBase {
  readonly kind: 'isolatedMarginChanged';
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly reason: LedgerReason;
  readonly deltaQuanta: Quanta;
  readonly marginQuanta: Quanta;
}

/** An account's own margin setting. */
export interface MarginChanged extends EventBase {
  readonly kind: 'marginChanged';
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly isolated: boolean;
  readonly marginPpm: Ppm;
}

/** A premium was sampled; `samples` have been since the last settlement. */
export interface FundingSampled extends EventBase {
  readonly kind: 'fundingSampled';
  readonly market: MarketId;
  readonly premiumPpb: Ppb;
  readonly samples: number;
}

/** Funding was settled over all positions; each has its own ledger entry before this. */
export interface FundingSettled extends EventBase {
  readonly kind: 'fundingSettled';
  readonly market: MarketId;
  readonly ratePpb: Ppb;
  readonly indexTicks: PriceTicks | null;
  readonly positions: number;
  /** What rounding left for insurance. */
  readonly roundingQuanta: Quanta;
}

/** One step down the ladder, with what it found before it. */
export interface LiquidationStep extends EventBase {
  readonly kind: 'liquidationStep';
  readonly subaccount: SubaccountId;
  /** The position's market; null when the step is about all cross positions. */
  readonly market: MarketId | null;
  readonly isolated: boolean;
  readonly step: 'cancelOrders' | 'order' | 'insurance' | 'takeover' | 'adl' | 'safe' | 'shortfall';
  readonly equityQuanta: Quanta;
  readonly maintenanceQuanta: Quanta;
  /** Orders that are cancelled. */
  readonly orders: number;
  /** Size sent to the book, signed by the order's side, and the worst price at which it may fill. */
  readonly lots: Lots;
  readonly limitTicks: PriceTicks | null;
  readonly bankruptcyTicks: PriceTicks | null;
  /** Paid by insurance or left to the shortfall; of a take-over or ADL, the equity at its prices. */
  readonly amountQuanta: Quanta;
}

/** A position changed hands without the book at `priceTicks`; money went with it. */
export interface PositionTransferred extends EventBase {
  readonly kind: 'positionTransferred';
  readonly market: MarketId;
  readonly from: SubaccountId;
  readonly to: SubaccountId;
  readonly reason: 'takeover' | 'adl' | 'delisting';
  /** Signed as `from` held them. */
  readonly lots: Lots;
  readonly priceTicks: PriceTicks;
  readonly moneyQuanta: Quanta;
  readonly fromRealizedQuanta: Quanta;
  readonly toRealizedQuanta: Quanta;
  readonly fromFundingQuanta: Quanta;
  readonly toFundingQuanta: Quanta;
}

/** Vault shares were minted or burned; shares are whole 1e-6. */
export interface VaultSharesChanged extends EventBase {
  readonly kind: 'vaultSharesChanged';
  readonly subaccount: SubaccountId;
  readonly change: bigint;
  readonly shares: bigint;
  readonly totalShares: bigint;
  /** Paid in, or negative paid out. */
  readonly amountQuanta: Quanta;
  readonly lockupEndsAtUs: TimeUs;
}

export interface DelegateChanged extends EventBase {
  readonly kind: 'delegateChanged';
  readonly account: AccountId;
  readonly subaccountIndex: number;
  readonly delegate: AccountId;
  readonly delegated: boolean;
}

export interface SignersChanged extends EventBase {
  readonly kind: 'signersChanged';
  readonly account: AccountId;
  readonly signers: readonly Address[];
  readonly quorum: number;
}

/** A market froze, or thawed (R-5.3b). */
export interface MarketFrozen extends EventBase {
  readonly kind: 'marketFrozen';
  readonly market: MarketId;
  readonly frozen: boolean;
  /** When it froze. */
  readonly sinceUs: TimeUs;
}

/** Terms of a market in force now, and those that follow after the notice. */
export interface MarketTermsChanged extends EventBase {
  readonly kind: 'marketTermsChanged';
  readonly market: MarketId;
  readonly spec: MarketSpec;
  readonly nextSpec: MarketSpec | null;
  /** When `nextSpec` comes into force; null without one. */
  readonly effectiveUs: TimeUs | null;
}

export interface MarketStatusChanged extends EventBase {
  readonly kind: 'marketStatusChanged';
  readonly market: MarketId;
  readonly status: MarketStatus;
}

/** Every position of the market was settled at this price. */
export interface MarketDelisted extends EventBase {
  readonly kind: 'marketDelisted';
  readonly market: MarketId;
  readonly priceTicks: PriceTicks;
}

export type EngineEvent =
  | OrderAccepted
  | OrderRejected
  | OrderRested
  | OrderFilled
  | OrderPending
  | OrderReleased
  | OrderEnded
  | TradePrinted
  | BalanceChanged
  | PositionChanged
  | OracleSet
  | MarkChanged
  | NonceUsed
  | SelfTradeModeChanged
  | MarketListed
  | TapeApplied
  | IsolatedMarginChanged
  | MarginChanged
  | FundingSampled
  | FundingSettled
  | LiquidationStep
  | PositionTransferred
  | VaultSharesChanged
  | DelegateChanged
  | SignersChanged
  | MarketFrozen
  | MarketTermsChanged
  | MarketStatusChanged
  | MarketDelisted;

/** Where the engine pushes its events. */
export type EventSink = (event: EngineEvent) => void;
