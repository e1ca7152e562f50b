/**
 * Interface of a strategy: its handlers and its context. It uses the API through `client` and sees
 * only what was delivered to it at its own virtual time. The same file runs in a backtest and, with
 * `orrery live`, against any host of the API.
 *
 * Handlers may be synchronous or async. An async handler may await its client and `sleep`. Awaiting
 * anything else stops a backtest with an error, because virtual time cannot wait for it.
 *
 * Exact prices and sizes are decimal text; those for arithmetic are numbers. `market.price` and
 * `market.size` convert a number to text on a tick or a lot. Times are microseconds since the Unix
 * epoch.
 */
import type { OrderRecordShape } from '../contract/schemas.ts';
import type { OrderWord } from '../contract/words.ts';
import type { MatcherClient } from '../gateway/matcher-client.ts';
import type { RandomStream } from '../virtual-time/rng.ts';

export interface Level {
  readonly price: string;
  readonly size: string;
}

/** The book's best levels, after a change of the best price or size of either side. */
export interface BookUpdate {
  readonly symbol: string;
  /** Venue time of the change; delivered one feed latency later. */
  readonly timeUs: number;
  /** null if the side is empty. */
  readonly bid: Level | null;
  readonly ask: Level | null;
  readonly bidTicks: number | null;
  readonly askTicks: number | null;
  readonly tickSize: string;
  /** null if a side is empty. */
  readonly mid: number | null;
  /** Best first; as many as the definition's `bookDepth`. */
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
  /** The API's order id; null for a position from a take-over. */
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

/** An order's state changed: resting, pending, partially filled, ended or rejected. */
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
  /** Rate of the interval that ended, as decimal text; longs pay if it is positive. */
  readonly rate: string;
  /** Amount that this strategy received; negative if it paid. */
  readonly payment: string;
}

/** A new mark or index price of a market. */
export interface PriceUpdate {
  readonly symbol: string;
  readonly timeUs: number;
  readonly price: string;
}

/** A step of a liquidation of this strategy's account (docs/RISK.md). */
export interface LiquidationUpdate {
  readonly timeUs: number;
  /** null if the step concerns all cross positions. */
  readonly symbol: string | null;
  readonly step: string;
  /** Equity and maintenance requirement before the step. */
  readonly equity: string;
  readonly maintenance: string;
  /** Signed size sent to the book or transferred. */
  readonly size: string;
  readonly limitPrice: string | null;
  readonly bankruptcyPrice: string | null;
  readonly amount: string;
}

/** The account after a fill, a payment or a transfer. */
export interface AccountUpdate {
  readonly timeUs: number;
  /** Balance plus unrealised PnL at the marks of `positions`. */
  readonly equity: string;
  readonly balance: string;
  readonly positions: readonly {
    readonly symbol: string;
    /** Signed. */
    readonly quantity: string;
    /** null while the market has no mark. */
    readonly mark: string | null;
  }[];
}

/** A cell of a row of data: numbers and `true`/`false` are read; an empty cell is null. */
export type Cell = string | number | boolean | null;

/** A row of a file of data (`--feed`), delivered once it is available. */
export interface DataUpdate {
  readonly feed: string;
  /** Time from which the row is available, by the declared column. */
  readonly timeUs: number;
  readonly row: Readonly<Record<string, Cell>>;
}

/** A market's fixed terms, and rounding to its ticks and lots. */
export interface MarketTerms {
  readonly symbol: string;
  readonly tickSize: string;
  readonly lotSize: string;
  readonly minQuantity: string;
  readonly maxPrice: string;
  readonly makerFee: number;
  readonly takerFee: number;
  /** Decimal text on a tick; default rounding `nearest`. */
  price(value: number, rounding?: Rounding): string;
  /** Decimal text on a lot; default rounding `down` (toward zero). */
  size(value: number, rounding?: Rounding): string;
}

export type Rounding = 'down' | 'up' | 'nearest';

/** An order of a strategy; omitted fields have the API's defaults. */
export interface OrderIntent {
  readonly side: 'buy' | 'sell';
  /** Positive decimal text. */
  readonly size: string;
  /** Omitted: a marketable order within the price band that never rests (`ioc`). */
  readonly price?: string;
  /** Default: the strategy's first market. */
  readonly symbol?: string;
  readonly orderType?: OrderWord;
  readonly ioc?: boolean;
  readonly postOnly?: boolean;
  readonly reduceOnly?: boolean;
  readonly clientId?: string;
  /** Trigger of a take-profit or stop-loss; activation price of a trailing stop. */
  readonly triggerPrice?: string;
  readonly trailingPercent?: string;
  /** Interval between the slices of a TWAP, ms: this order is one slice of its batch. */
  readonly periodMs?: number;
  readonly parentOrderId?: string;
  /**
   * Trigger prices of protective orders, active once the order is filled; each cancels the other.
   */
  readonly takeProfit?: string;
  readonly stopLoss?: string;
  /** Milliseconds since the epoch; default: never. */
  readonly expiresAt?: number;
  /**
   * Reason of the order, at most 80 characters: in the report, beside its fills and those of its
   * protective orders. It is not sent to the exchange.
   */
  readonly tag?: string;
}

export interface PlotOptions {
  /** Market whose price it is drawn with; default: the strategy's first. */
  readonly symbol?: string;
  /** `price`: on the scale of the price (default). `below`: in a pane of its own. */
  readonly pane?: 'price' | 'below';
}

export interface HistoryOptions {
  /** Default: the strategy's first market. */
  readonly symbol?: string;
  /** Length of the bars, µs; default: the first of `barsUs`. */
  readonly intervalUs?: number;
}

export interface StrategyContext {
  /** The full API. A call rejects with `MatcherError` if the exchange rejects it. */
  readonly client: MatcherClient;
  readonly account: string;
  readonly subaccountIndex: number;
  /** The first of `symbols`. */
  readonly symbol: string;
  readonly symbols: readonly string[];
  /** True before trading starts: updates are delivered, writes are rejected. */
  readonly warmingUp: boolean;
  /** Random numbers from the run's seed: identical in every run. */
  readonly random: RandomStream;
  /** Virtual time in a backtest, the clock of this computer in a live run; µs since 1970. */
  now(): number;
  market(symbol?: string): MarketTerms;
  /** Places an order; returns the API's records, the order's own first. */
  submit(order: OrderIntent): Promise<readonly OrderRecordShape[]>;
  /** Cancels an order; false if it had already ended. */
  cancel(orderId: string): Promise<boolean>;
  cancelAll(symbol?: string): Promise<void>;
  /** Signed decimal text; '0' if flat. Queries the exchange, so it takes a round trip. */
  position(symbol?: string): Promise<string>;
  /** Calls `onTimer(name)` after a delay; an existing timer of that name is replaced. */
  setTimer(name: string, afterUs: number): void;
  sleep(us: number): Promise<void>;
  /** Next unused nonce of this subaccount, for hand-written requests. */
  nextNonce(): number | bigint;
  /**
   * The last bars that were delivered, oldest first. Needs `onBar`, or `keeps: { bars: n }` in the
   * definition.
   */
  history(count?: number, options?: HistoryOptions): readonly BarUpdate[];
  /** The last book that was delivered. Needs `onBook`, or `keeps: { book: true }`. */
  book(symbol?: string): BookUpdate | null;
  /**
   * Equity at the last delivered marks; null before the first update of the account. Needs
   * `keeps: { equity: true }`.
   */
  equity(): number | null;
  /** Records a value that the report draws; at most 20 names a run. NaN makes a gap. */
  plot(name: string, value: number, options?: PlotOptions): void;
  /** Writes a line to the run's log. */
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
  /** The mark price changed. */
  onMark?(update: PriceUpdate, context: StrategyContext): Handled;
  onIndex?(update: PriceUpdate, context: StrategyContext): Handled;
  /** A step of a liquidation of this account. */
  onLiquidation?(update: LiquidationUpdate, context: StrategyContext): Handled;
  onAccount?(update: AccountUpdate, context: StrategyContext): Handled;
  /** A row of a file of data, never before it is available. */
  onData?(update: DataUpdate, context: StrategyContext): Handled;
  onStop?(context: StrategyContext): Handled;
  /**
   * State as plain data (structured-cloneable). With `load`, a stopped run resumes from it; without
   * them the strategy restarts.
   */
  save?(): unknown;
  load?(saved: unknown): void;
}
