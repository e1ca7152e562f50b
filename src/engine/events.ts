/**
 * Events: fresh plain objects, pushed into the caller's sink in causal order: taker
 * accepted → per fill (trade, maker, taker, ledger, positions) → rest or end → consequences.
 *
 * Every event has `seq` (its command), `index` (its position among that command's events, from 0),
 * `timeUs` (a timer's own time, otherwise the command's) and `cause`.
 */
import type { MarketSpec, MarketStatus, SelfTradeMode } from './config.ts';
import type { OrderTerms } from './commands.ts';
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

/** Trigger of the event. `tapeCross`: a historical level crossed a user's order. */
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
export interface OrderAccepted extends EventBase, OrderTerms {
  readonly kind: 'orderAccepted';
  readonly orderId: OrderId;
}

/** An admitted order that a later check rejected, with record. Terms as in `orderAccepted`. */
export interface OrderRejected extends EventBase, OrderTerms {
  readonly kind: 'orderRejected';
  readonly orderId: OrderId;
  readonly reason: EndReason;
}

/** The remainder of the order now rests on the book. */
export interface OrderRested extends EventBase {
  readonly kind: 'orderRested';
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly priceTicks: PriceTicks;
  /** Signed. */
  readonly remainingLots: Lots;
}

/** One side of a fill. House sides (the tape) have no order and emit none. */
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
  /** Unfilled size after this fill; signed. */
  readonly remainingLots: Lots;
  /** Protocol fee charged to this side; negative for a rebate. */
  readonly feeQuanta: Quanta;
  readonly originatorFeeQuanta: Quanta;
  /** Realised by the closed part, before fees and funding. */
  readonly realizedPnlQuanta: Quanta;
  /** Net funding that the closed part received; booked already at its settlements. */
  readonly realizedFundingQuanta: Quanta;
}

/** An accepted order now waits for its trigger, time, predecessor, or parent's first fill. */
export interface OrderPending extends EventBase {
  readonly kind: 'orderPending';
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
}

/** A pending order was activated by its trigger, its time, or a fill of its predecessor. */
export interface OrderReleased extends EventBase {
  readonly kind: 'orderReleased';
  readonly orderId: OrderId;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  /** The trigger price and the price that reached it; null for slices. */
  readonly triggerTicks: PriceTicks | null;
  readonly sourceTicks: PriceTicks | null;
}

/** The order has ended; its status is final. */
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

/** One match on the public tape. */
export interface TradePrinted extends EventBase {
  readonly kind: 'tradePrinted';
  readonly market: MarketId;
  readonly tradeId: TradeId;
  readonly priceTicks: PriceTicks;
  /** Signed by the taker's side. */
  readonly lots: Lots;
}

/** Reason for a cash entry. */
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

/**
 * One ledger entry: `deltaQuanta` was added to the subaccount's cash, which is now `balanceQuanta`.
 */
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

/** The exchange accepted the oracle's price. */
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

/** A request other than an order used a nonce; order events report nonces of orders. */
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

/** A tape command took effect; counts are touched levels. */
export interface TapeApplied extends EventBase {
  readonly kind: 'tapeApplied';
  readonly market: MarketId;
  readonly what: 'depth' | 'trade' | 'snapshot' | 'gap' | 'bar' | 'l3';
  readonly bestBidTicks: PriceTicks | null;
  readonly bestBidLots: Lots;
  readonly bestAskTicks: PriceTicks | null;
  readonly bestAskLots: Lots;
  /** True if the command was skipped because the market waits for a snapshot. */
  readonly stale: boolean;
}

/** As `balanceChanged`, for isolated margin; reason `isolatedMargin` moves it from or to cash. */
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

/** A premium was sampled; `samples` counts those since the last settlement. */
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
  /** Rounding difference, credited to insurance. */
  readonly roundingQuanta: Quanta;
}

/** One liquidation step, with the state before it. */
export interface LiquidationStep extends EventBase {
  readonly kind: 'liquidationStep';
  readonly subaccount: SubaccountId;
  /** The position's market; null when the step covers all cross positions. */
  readonly market: MarketId | null;
  readonly isolated: boolean;
  readonly step: 'cancelOrders' | 'order' | 'insurance' | 'takeover' | 'adl' | 'safe' | 'shortfall';
  readonly equityQuanta: Quanta;
  readonly maintenanceQuanta: Quanta;
  /** Number of orders cancelled. */
  readonly orders: number;
  /**
   * Size sent to the book, signed by the order's side, and the worst price at which it may fill.
   */
  readonly lots: Lots;
  readonly limitTicks: PriceTicks | null;
  readonly bankruptcyTicks: PriceTicks | null;
  /**
   * Paid by insurance or added to the shortfall; for a take-over or ADL, the equity at its prices.
   */
  readonly amountQuanta: Quanta;
}

/** A position changed hands off the book at `priceTicks`, with its money. */
export interface PositionTransferred extends EventBase {
  readonly kind: 'positionTransferred';
  readonly market: MarketId;
  readonly from: SubaccountId;
  readonly to: SubaccountId;
  readonly reason: 'takeover' | 'adl' | 'delisting';
  /** Signed as in the position of `from`. */
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
  /** Paid in; negative: paid out. */
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
  /** Time of the freeze. */
  readonly sinceUs: TimeUs;
}

/** Terms of a market in force now, and those that follow after the notice. */
export interface MarketTermsChanged extends EventBase {
  readonly kind: 'marketTermsChanged';
  readonly market: MarketId;
  readonly spec: MarketSpec;
  readonly nextSpec: MarketSpec | null;
  /** When `nextSpec` takes effect; null without one. */
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

/** Receiver of the engine's events. */
export type EventSink = (event: EngineEvent) => void;
