/**
 * Commands: everything that can change the state of the exchange. One
 * `kind`-discriminated record each; every field is in engine units, decoded and authorised.
 * `timeUs` is when the command happens: due timers run first, each at its own time.
 *
 * The journal codec has one append-only tag per kind (journal/format/codec.ts).
 */
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
  SubaccountId,
  TimeUs,
} from '../num/units.ts';
import type { MarketSpec, MarketStatus, SelfTradeMode } from './config.ts';
import type { OrderType } from './orders/order-types.ts';

export type { OrderType };
export type Side = 'bid' | 'ask';

/** Time passes: only due timers run. */
export interface AdvanceTime {
  readonly kind: 'advanceTime';
  readonly timeUs: TimeUs;
}

/** A market opens. Its id is the number of markets listed before it. */
export interface ListMarket {
  readonly kind: 'listMarket';
  readonly timeUs: TimeUs;
  readonly spec: MarketSpec;
}

/** External funds arrive. Creates the account and subaccount if needed. */
export interface Deposit {
  readonly kind: 'deposit';
  readonly timeUs: TimeUs;
  readonly account: Address;
  readonly subaccountIndex: number;
  /** > 0 */
  readonly amount: Quanta;
  /** Of the operator, by which a repeated request is known; no rule reads it. */
  readonly reference?: string;
}

/** Funds leave the exchange, at most the withdrawable amount. */
export interface Withdraw {
  readonly kind: 'withdraw';
  readonly timeUs: TimeUs;
  readonly account: Address;
  readonly subaccountIndex: number;
  readonly amount: Quanta;
  /** As of a deposit. */
  readonly reference?: string;
}

/** A transfer between subaccounts, authorised by `from`. */
export interface Transfer {
  readonly kind: 'transfer';
  readonly timeUs: TimeUs;
  readonly from: Address;
  readonly fromIndex: number;
  readonly to: Address;
  readonly toIndex: number;
  readonly amount: Quanta;
  /** null: cash; else excess isolated margin of that market. */
  readonly market: MarketId | null;
  /**
   * Account whose nonce this request uses: the debited one, or the share holder if the vault pays.
   */
  readonly signer: Address;
  readonly nonce: bigint;
  readonly expiresAtMs: bigint;
}

/** Terms of an order without its owner. */
export interface OwnTerms {
  readonly market: MarketId;
  readonly orderType: OrderType;
  /** Signed, not 0. */
  readonly lots: Lots;
  /** A bound for `ioc`, already rounded to the safer tick. */
  readonly priceTicks: PriceTicks;
  readonly ioc: boolean;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  /** 0 … 2^63 − 1 */
  readonly nonce: bigint;
  /** The contract's expiresAt, exactly as sent, in milliseconds. */
  readonly expiresAtMs: bigint;
  readonly clientId: string | null;
  /** null for the zero address. */
  readonly originator: Address | null;
  readonly originatorFeePpm: Ppm;
}

/** The terms of an order: of its command, its row, its events and its view. */
export interface OrderTerms extends OwnTerms {
  readonly subaccount: SubaccountId;
  /** null: signed by the owner's signer set; else the delegate that signed. */
  readonly delegate: AccountId | null;
}

/** One order with a verified signature; the engine checks expiry, nonce, clientId and the rest. */
export interface PlaceOrder extends OrderTerms {
  readonly kind: 'placeOrder';
  readonly timeUs: TimeUs;
  /** Other types use `PlaceOrders`, in groups of one or more. */
  readonly orderType: 'limit';
}

/** A batch, or an order with attached ones (§3, §4). Admission is atomic, outcomes are separate. */
export interface PlaceOrders {
  readonly kind: 'placeOrders';
  readonly timeUs: TimeUs;
  readonly subaccount: SubaccountId;
  readonly delegate: AccountId | null;
  readonly orders: readonly NewOrder[];
}

/** One order of a group, which has subaccount and delegate. */
export interface NewOrder extends OwnTerms {
  /** Fires take-profit and stop-loss; activates a trailing stop if given. */
  readonly triggerTicks: PriceTicks | null;
  /** Of a trailing stop, in 1e-6: 1 % is 10,000. */
  readonly trailingPpm: number | null;
  /** Of a TWAP slice, in milliseconds. */
  readonly periodMs: bigint | null;
  /** The live order that a leg protects; null for a position and for `attached` ones. */
  readonly parent: OrderId | null;
  /** True for orders that a submit attaches to its first order; they share that order's nonce. */
  readonly attached: boolean;
}

/** A user cancels one order by its dense id; the gateway has found and authorised it. */
export interface CancelOrder {
  readonly kind: 'cancelOrder';
  readonly timeUs: TimeUs;
  readonly orderId: OrderId;
}

/** A user cancels every order of a subaccount, or those in one market. */
export interface CancelAll {
  readonly kind: 'cancelAll';
  readonly timeUs: TimeUs;
  readonly subaccount: SubaccountId;
  readonly market: MarketId | null;
}

/** The oracle reports an index price, rounded half up to a tick, and its text for reads. */
export interface SetIndex {
  readonly kind: 'setIndex';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  readonly priceTicks: PriceTicks;
  readonly text: string;
}

/** A recorded mark price, for markets with `markSource: external`. */
export interface SetMark {
  readonly kind: 'setMark';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  readonly priceTicks: PriceTicks;
}

/**
 * Overrides `config.selfTradeExpire` for one account; null restores the exchange's setting.
 */
export interface SetSelfTradeMode {
  readonly kind: 'setSelfTradeMode';
  readonly timeUs: TimeUs;
  readonly account: Address;
  readonly mode: SelfTradeMode | null;
}

/**
 * Historical book levels of one venue update, in recorded order; `lots` 0 removes a level. Sizes
 * are the venue's, before displacement.
 */
export interface TapeDepth {
  readonly kind: 'tapeDepth';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  readonly levels: readonly TapeLevel[];
}

export interface TapeLevel {
  readonly side: Side;
  readonly priceTicks: PriceTicks;
  readonly lots: Lots;
}

/** A historical trade: a house taker of `lots` (signed by the taker's side) at the tape's price. */
export interface TapeTrade {
  readonly kind: 'tapeTrade';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  readonly priceTicks: PriceTicks;
  readonly lots: Lots;
}

/** The venue's whole book: levels that are not listed are removed. Ends a gap. */
export interface TapeSnapshot {
  readonly kind: 'tapeSnapshot';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  readonly levels: readonly TapeLevel[];
}

/**
 * The synthetic book of a recording without one: these levels replace all others. None of them
 * trades with a user's order: a level stays a tick away from an order that it would cross or lock.
 */
export interface TapeQuotes {
  readonly kind: 'tapeQuotes';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  readonly levels: readonly TapeLevel[];
}

/** The recording has a hole: no house fills until the next snapshot. */
export interface TapeGap {
  readonly kind: 'tapeGap';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
}

/** Order of a bar's extremes (engine/tape/bar-path). */
export type BarPath = 'nearest' | 'worstCase' | 'stopFirst';
/** Whether a bar fills a resting order at a touched price, or only at a price it trades through. */
export type BarFill = 'touch' | 'through';

/**
 * Trades of an interval, played along a path through the book (engine/tape/apply-bar). The time is
 * the interval's last microsecond. The synthetic book and policies are part of the command, so the
 * journal records all assumptions.
 */
export interface TapeBar {
  readonly kind: 'tapeBar';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  readonly openTicks: PriceTicks;
  readonly highTicks: PriceTicks;
  readonly lowTicks: PriceTicks;
  readonly closeTicks: PriceTicks;
  /** ≥ 0 */
  readonly volumeLots: Lots;
  /** Mid of the synthetic book until the next bar: the close, or the next bar's open. */
  readonly quoteTicks: PriceTicks;
  /** Of the synthetic book, ≥ 0; 0 locks it. */
  readonly spreadTicks: number;
  /** Lots on each side of it; also the most that one leg of the path takes from resting orders. */
  readonly depthLots: Lots;
  readonly path: BarPath;
  readonly fill: BarFill;
}

/**
 * An event of one historical order, on venues that publish full order flow (engine/tape/apply-l3).
 */
export type TapeL3Action = 'add' | 'reduce' | 'remove' | 'execute';

export interface TapeL3 {
  readonly kind: 'tapeL3';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  readonly action: TapeL3Action;
  /** The venue's order number, from 1. */
  readonly ref: number;
  readonly side: Side;
  readonly priceTicks: PriceTicks;
  /** > 0: size added, reduced or traded; ignored for a removal. */
  readonly lots: Lots;
}

/** An account's own margin setting in a market. */
export interface UpdateMargin {
  readonly kind: 'updateMargin';
  readonly timeUs: TimeUs;
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly isolated: boolean;
  /** The initial rate, in (0, 1] and at least the market's. */
  readonly marginPpm: Ppm;
  readonly nonce: bigint;
  readonly expiresAtMs: bigint;
  /** As in `PlaceOrder`. */
  readonly delegate: AccountId | null;
}

/** An account grants or revokes a delegate of one of its subaccounts. */
export interface UpdateDelegate {
  readonly kind: 'updateDelegate';
  readonly timeUs: TimeUs;
  readonly account: Address;
  readonly subaccountIndex: number;
  readonly delegate: Address;
  readonly delegated: boolean;
  readonly nonce: bigint;
  readonly expiresAtMs: bigint;
}

/** An account replaces its signers; the previous set has signed. */
export interface UpdateSigners {
  readonly kind: 'updateSigners';
  readonly timeUs: TimeUs;
  readonly account: Address;
  readonly signers: readonly Address[];
  readonly quorum: number;
  readonly nonce: bigint;
  readonly expiresAtMs: bigint;
}

/** A recorded funding rate is settled now, for markets with `funding.source: external`. */
export interface SettleFunding {
  readonly kind: 'settleFunding';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  /** For the interval that ends now, in 1e-9. */
  readonly ratePpb: Ppb;
}

/** The operator changes the terms of a listed market. */
export interface SetMarketTerms {
  readonly kind: 'setMarketTerms';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  /** The whole spec; identity fields must equal the current ones. */
  readonly spec: MarketSpec;
}

/** The operator restricts or reopens a market. */
export interface SetMarketStatus {
  readonly kind: 'setMarketStatus';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  readonly status: Exclude<MarketStatus, 'delisted'>;
}

/** The operator settles all positions of a market and closes it permanently. */
export interface DelistMarket {
  readonly kind: 'delistMarket';
  readonly timeUs: TimeUs;
  readonly market: MarketId;
  /** null: at the index. */
  readonly priceTicks: PriceTicks | null;
}

export type Command =
  | PlaceOrder
  | PlaceOrders
  | CancelOrder
  | AdvanceTime
  | TapeDepth
  | TapeTrade
  | SetIndex
  | SetMark
  | CancelAll
  | Deposit
  | Withdraw
  | Transfer
  | SetSelfTradeMode
  | TapeSnapshot
  | TapeQuotes
  | TapeGap
  | TapeBar
  | TapeL3
  | ListMarket
  | UpdateMargin
  | UpdateDelegate
  | UpdateSigners
  | SettleFunding
  | SetMarketTerms
  | SetMarketStatus
  | DelistMarket;

export type CommandKind = Command['kind'];
