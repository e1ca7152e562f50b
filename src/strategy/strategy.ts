/**
 * A strategy: what it hears and what it may do. It speaks the contract through `client`, and sees only what was
 * delivered to it at its own virtual time. The same file runs in a backtest and, with `orrery live`, against any host
 * with the contract.
 *
 * Handlers may be plain or async. An async handler may await its client and `sleep`; awaiting anything else stops a
 * backtest with an error, since virtual time cannot wait for it.
 *
 * Prices and sizes that are exact are decimal text; those that are for arithmetic are numbers, and `market.price` and
 * `market.size` turn a number back into text on a tick or a lot. Times are microseconds since the Unix epoch.
 */
import type { OrderRecordShape } from '../contract/schemas.ts';
import type { MatcherClient } from '../gateway/matcher-client.ts';
import type { RandomStream } from '../virtual-time/rng.ts';

export interface Level {
  readonly price: string;
  readonly size: string;
}

/** The book's best levels, after a change of the best price or size of either side. */
export interface BookUpdate {
  readonly symbol: string;
  /** Venue time of the change; the strategy hears of it a feed latency later. */
  readonly timeUs: number;
  /** null while the side is empty. */
  readonly bid: Level | null;
  readonly ask: Level | null;
  readonly bidTicks: number | null;
  readonly askTicks: number | null;
  readonly tickSize: string;
  /** null while a side is empty. */
  readonly mid: number | null;
  /** Best first, as many as the definition's `bookDepth` asks for. */
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

export interface TradeUpdate {
  readonly symbol: string;
  readonly timeUs: number;
  readonly price: string;
  /** Signed by the taker's side. */
  readonly quantity: string;
}

/** A finished bar of trades in [startUs, timeUs). An interval without a trade has no bar. */
export interface BarUpdate {
  readonly symbol: string;
  readonly startUs: number;
  /** The end of the bar. */
  readonly timeUs: number;
  readonly intervalUs: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
}

export interface FillUpdate {
  readonly symbol: string;
  readonly timeUs: number;
  /** The contract's order id; null for a position that was taken over. */
  readonly orderId: string | null;
  readonly role: 'maker' | 'taker';
  readonly price: string;
  /** Signed. */
  readonly quantity: string;
  /** Positive when paid. */
  readonly fee: string;
  /** The position after this fill, signed. */
  readonly position: string;
}

/** An order's state changed: it rests, waits, was filled in part, ended, or was rejected. */
export interface OrderUpdate {
  readonly symbol: string;
  readonly timeUs: number;
  readonly orderId: string;
  readonly clientId: string | null;
  readonly status:
    'new' | 'partiallyFilled' | 'pending' | 'filled' | 'cancelled' | 'expired' | 'rejected';
  readonly reason: string | null;
  /** Signed. */
  readonly quantity: string;
  readonly remaining: string;
}

/** Funding was settled in a market. */
export interface FundingUpdate {
  readonly symbol: string;
  readonly timeUs: number;
  /** Of the interval that ended, as decimal text; longs pay when it is positive. */
  readonly rate: string;
  /** What this strategy received; negative when it paid. */
  readonly payment: string;
}

/** A market's fixed terms, and numbers on its ticks and lots. */
export interface MarketTerms {
  readonly symbol: string;
  readonly tickSize: string;
  readonly lotSize: string;
  readonly minQuantity: string;
  readonly maxPrice: string;
  readonly makerFee: number;
  readonly takerFee: number;
  /** Decimal text on a tick. `nearest` unless told. */
  price(value: number, rounding?: Rounding): string;
  /** Decimal text on a lot; `down` (toward zero) unless told. */
  size(value: number, rounding?: Rounding): string;
}

export type Rounding = 'down' | 'up' | 'nearest';

/** An order in a strategy's words; what is left out has the contract's usual value. */
export interface OrderIntent {
  readonly side: 'buy' | 'sell';
  /** Positive decimal text. */
  readonly size: string;
  /** Left out: an order at any price within the band, that takes what it finds and ends. */
  readonly price?: string;
  /** The strategy's first market unless given. */
  readonly symbol?: string;
  readonly orderType?: 'limit' | 'twap' | 'takeProfit' | 'stopLoss' | 'trailingStop' | 'iceberg';
  readonly ioc?: boolean;
  readonly postOnly?: boolean;
  readonly reduceOnly?: boolean;
  readonly clientId?: string;
  /** Fires a take-profit or stop-loss, activates a trailing stop. */
  readonly triggerPrice?: string;
  readonly trailingPercent?: string;
  /** Between the slices of a TWAP, ms. */
  readonly periodMs?: number;
  readonly parentOrderId?: string;
  /** Trigger prices of legs that protect the order once it is filled; each cancels the other. */
  readonly takeProfit?: string;
  readonly stopLoss?: string;
  /** Milliseconds since the epoch; never unless given. */
  readonly expiresAt?: number;
}

export interface StrategyContext {
  /** The whole contract. A call rejects with `MatcherError` when the exchange refuses. */
  readonly client: MatcherClient;
  readonly account: string;
  readonly subaccountIndex: number;
  /** The first of `symbols`. */
  readonly symbol: string;
  readonly symbols: readonly string[];
  /** True before trading begins: updates come, writes are refused. */
  readonly warmingUp: boolean;
  /** Chance from the run's seed: the same draws in every run. */
  readonly random: RandomStream;
  /** Virtual time in a backtest. */
  now(): number;
  market(symbol?: string): MarketTerms;
  /** Places an order; answers the contract's records, the order's first. */
  submit(order: OrderIntent): Promise<readonly OrderRecordShape[]>;
  /** Cancels; false when the order had ended before. */
  cancel(orderId: string): Promise<boolean>;
  cancelAll(symbol?: string): Promise<void>;
  /** Signed decimal text; '0' when flat. Asks the exchange, so it takes a round trip. */
  position(symbol?: string): Promise<string>;
  /** Calls `onTimer(name)` after a time; a name that waits already is set anew. */
  setTimer(name: string, afterUs: number): void;
  sleep(us: number): Promise<void>;
  /** The next unused nonce of this subaccount, for bodies made by hand. */
  nextNonce(): number | bigint;
  /** A line of the run's log. */
  log(text: string): void;
}

type Handled = void | Promise<void>;

export interface Strategy {
  onStart?(context: StrategyContext): Handled;
  onBook?(update: BookUpdate, context: StrategyContext): Handled;
  onTrade?(update: TradeUpdate, context: StrategyContext): Handled;
  onBar?(update: BarUpdate, context: StrategyContext): Handled;
  onFill?(update: FillUpdate, context: StrategyContext): Handled;
  onOrder?(update: OrderUpdate, context: StrategyContext): Handled;
  onTimer?(name: string, context: StrategyContext): Handled;
  onFunding?(update: FundingUpdate, context: StrategyContext): Handled;
  onStop?(context: StrategyContext): Handled;
  /**
   * What the strategy knows, as plain data (whatever structured cloning takes). With `load`, a run that was stopped
   * goes on from where it was; without them it begins again.
   */
  save?(): unknown;
  load?(saved: unknown): void;
}
