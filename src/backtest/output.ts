/**
 * Recorded output of a backtest as plain data: the only input of reports, metrics and searches.
 * Exact figures are decimal text: money in units of the collateral, prices and sizes in those of
 * their market. Samples for charts and statistics are numbers. Times are µs since the Unix epoch.
 * Everything but `engine` is structured-cloneable.
 */
import type { Exchange } from '../engine/exchange.ts';
import type { RandomStreams } from '../virtual-time/rng.ts';
import type { ParameterValues } from '../strategy/definition.ts';

/** Delays after a fill at which the mid is sampled. */
export const MARKOUT_HORIZONS_US = [1_000_000, 10_000_000, 60_000_000] as const;

export interface BacktestOutput {
  /** Start of measurement: the end of the warm-up. */
  readonly firstUs: number;
  readonly lastUs: number;
  /** Rows of the user's data were delivered until this time; `lastUs` may be a later reply's. */
  readonly deliveredUs: number;
  /** Samples are at whole multiples of this interval. */
  readonly sampleUs: number;
  readonly seed: string;
  readonly markets: readonly MarketOutput[];
  /** Strategies with reports, in the order given. */
  readonly strategies: readonly StrategyOutput[];
  /** Strategies whose requests have no answer at the end. */
  readonly unanswered: readonly Unanswered[];
  readonly commands: number;
  readonly chainHash: string;
  readonly stateHash: string;
  /** The full journal if kept in memory; empty if written to a sink or not kept. */
  readonly journal: Uint8Array;
  readonly engine: Exchange;
  readonly cancelled: boolean;
  /**
   * State of a cancelled run, to resume it; null if the run ended or a strategy cannot be saved.
   */
  readonly checkpoint: BacktestCheckpoint | null;
}

/** Numbers of a strategy's requests without an answer. */
export interface Unanswered {
  readonly id: string;
  /** Not at the exchange: without an effect. */
  readonly onTheWay: number;
  /** At the exchange: with their effect, and without an answer at the strategy. */
  readonly arrived: number;
}

export interface MarketOutput {
  readonly symbol: string;
  readonly tickSize: string;
  readonly lotSize: string;
  readonly series: readonly MarketPoint[];
  /**
   * Times without a book, the warm-up included: before the first snapshot, and from a gap of the
   * recording to the next one. `toUs` is the end of the run if none came.
   */
  readonly gaps: readonly { readonly fromUs: number; readonly toUs: number }[];
  /** Time in which the recorded mark or index was stale, so that the market was frozen (R-5.3b). */
  readonly frozenUs: number;
  readonly fundingRates: readonly { readonly timeUs: number; readonly rate: string }[];
  readonly trades: number;
  readonly volume: string;
  readonly divergence: Divergence;
}

/** Recorded volume that contradicts the strategies' own impact. */
export interface Divergence {
  /** Size that they took and that history states again afterwards, each lot once. */
  readonly size: string;
  /** Times that history did so at a level. */
  readonly levels: number;
}

export interface MarketPoint {
  readonly timeUs: number;
  /** Null while a side of the book is empty, or if the market has no book. */
  readonly mid: number | null;
  readonly mark: number | null;
  readonly index: number | null;
  /** Best ask minus best bid. */
  readonly spread: number | null;
  /** Size at the best bid; `askSize` at the best ask. */
  readonly bidSize: number;
  readonly askSize: number;
}

export interface StrategyOutput {
  readonly id: string;
  readonly name: string;
  readonly parameters: ParameterValues;
  readonly account: string;
  readonly subaccountIndex: number;
  readonly symbols: readonly string[];
  readonly summary: StrategySummary;
  readonly equity: readonly EquityPoint[];
  readonly orders: readonly OrderRow[];
  readonly fills: readonly FillRow[];
  readonly funding: readonly FundingRow[];
  readonly liquidations: readonly LiquidationRow[];
  readonly transfers: readonly TransferRow[];
  readonly benchmark: readonly BenchmarkPoint[];
  readonly log: readonly LogRow[];
  readonly plots: readonly PlotOutput[];
}

/** Values that a strategy plotted under one name. */
export interface PlotOutput {
  readonly name: string;
  readonly symbol: string;
  /** `price`: drawn on the scale of the market's price. */
  readonly pane: 'price' | 'below';
  readonly timesUs: readonly number[];
  /** null: a gap. */
  readonly values: readonly (number | null)[];
}

/** Requests of one kind that were rejected with one status. */
export interface RefusalRow {
  readonly request: string;
  readonly status: number;
  readonly count: number;
  /** Text of the first answer. */
  readonly message: string;
}

/** Exact. equityEnd − equityStart = pnlTrading + fees + funding + liquidation + transfers. */
export interface StrategySummary {
  readonly equityStart: string;
  readonly equityEnd: string;
  readonly pnl: string;
  /** Realised and unrealised price gains and losses. */
  readonly pnlTrading: string;
  /** Negative if paid, positive for rebates. The sum is `pnlFees`. */
  readonly pnlFees: string;
  readonly feesMaker: string;
  readonly feesTaker: string;
  readonly feesOriginator: string;
  readonly pnlFunding: string;
  /** Liquidation fees, insurance, take-overs and auto-deleveraging. */
  readonly pnlLiquidation: string;
  /** Deposits minus withdrawals after the start. */
  readonly transfers: string;
  readonly fills: number;
  readonly makerFills: number;
  readonly orders: number;
  readonly rejectedOrders: number;
  /** Requests rejected before an order existed, and those dropped by an injected fault. */
  readonly refusedRequests: number;
  /** The same by request and status, most frequent first. */
  readonly refusals: readonly RefusalRow[];
  /** Σ size × price of fills. */
  readonly turnover: string;
  readonly positions: readonly PositionRow[];
  /** Largest fall of equity below its running high, over the samples. */
  readonly maxDrawdown: string;
}

export interface PositionRow {
  readonly symbol: string;
  /** Signed. */
  readonly final: string;
  /** Largest |position|. */
  readonly largest: string;
  /** Σ size of fills. */
  readonly volume: string;
}

export interface EquityPoint {
  readonly timeUs: number;
  /** Includes open positions at mark. */
  readonly equity: number;
  /** Money that transfers brought since the start, less what they took; absent if none. */
  readonly transfers?: number;
  readonly balance: number;
  /** Signed positions, one per market of the run. */
  readonly positions: readonly number[];
  /** Σ |position| × mark. */
  readonly exposure: number;
  /** exposure ÷ equity; 0 if equity is not positive. */
  readonly leverage: number;
  /** Initial requirement (positions and orders) ÷ equity. */
  readonly marginUsage: number;
  /** Maintenance requirement ÷ equity; liquidation starts at 1. */
  readonly maintenanceUsage: number;
}

export interface OrderRow {
  readonly orderId: string;
  /** Order number of the engine, as in the journal. */
  readonly orderNumber: number;
  readonly clientId: string | null;
  /** Reason that the strategy gave; that of the parent for a protective order. */
  readonly tag: string | null;
  readonly symbol: string;
  readonly orderType: string;
  readonly side: 'buy' | 'sell';
  /** Limit; that of an order without a price is far beyond the market (`takesAnyPrice`). */
  readonly price: string;
  /** Price that triggers a conditional order; null for others, absent in earlier runs. */
  readonly triggerPrice?: string | null;
  readonly size: string;
  readonly ioc: boolean;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  /** Time of sending; `arrivedUs`: arrival at the exchange. Equal for the engine's own orders. */
  readonly sentUs: number;
  readonly arrivedUs: number;
  /** Mid of the book at sending; `arrivalMid`: at arrival. */
  readonly sentMid: number | null;
  readonly arrivalMid: number | null;
  /** Time of first resting on the book, and the volume ahead then; null if it never rested. */
  readonly restedUs: number | null;
  readonly queueAhead: string | null;
  /** Null while the order is open. */
  readonly endedUs: number | null;
  readonly status: string;
  readonly reason: string | null;
  readonly filled: string;
}

export interface FillRow {
  readonly fillId: number;
  /** Number of the command in the journal that filled the order. */
  readonly seq: number;
  readonly timeUs: number;
  readonly symbol: string;
  readonly orderId: string;
  readonly orderNumber: number;
  /** Of the order. */
  readonly tag: string | null;
  readonly side: 'buy' | 'sell';
  readonly role: 'maker' | 'taker';
  readonly price: string;
  readonly size: string;
  /** Positive if paid. */
  readonly fee: string;
  readonly originatorFee: string;
  /** PnL of the closed size, before fees and funding. */
  readonly realizedPnl: string;
  readonly realizedFunding: string;
  /** Position after the fill, signed. */
  readonly position: string;
  /** True for the engine's own liquidation order. */
  readonly liquidation: boolean;
  readonly sentUs: number;
  readonly arrivedUs: number;
  readonly arrivalMid: number | null;
  /** Time from first resting to this fill; 0 for a taker. */
  readonly queueWaitUs: number;
  /** Mid just before the command that filled the order. */
  readonly midBefore: number | null;
  /** Mid after each of `MARKOUT_HORIZONS_US`; null if the run ended before or there was no mid. */
  readonly markouts: readonly (number | null)[];
}

export interface FundingRow {
  readonly timeUs: number;
  readonly symbol: string;
  readonly rate: string;
  /** Positive if received. */
  readonly payment: string;
  readonly position: string;
}

export interface LiquidationRow {
  readonly timeUs: number;
  /** Null if the step concerns all cross positions. */
  readonly symbol: string | null;
  readonly step: string;
  readonly equity: string;
  readonly maintenance: string;
  /** Signed size sent to the book or transferred by the step. */
  readonly size: string;
  readonly limitPrice: string | null;
  readonly bankruptcyPrice: string | null;
  readonly amount: string;
  /** Of a position that was transferred outside the book, at `limitPrice`. */
  readonly realizedPnl?: string;
  readonly realizedFunding?: string;
  /** Number of the account's fills before it; absent in earlier runs. */
  readonly fillsBefore?: number;
  /** Beside `amount`: insurance and shortfall received with it, less the fee; absent if 0. */
  readonly charges?: string;
}

export interface TransferRow {
  readonly timeUs: number;
  readonly reason: string;
  readonly amount: string;
}

/**
 * Buy and hold: the full balance in the first market at the first mid, in whole lots, with the fee,
 * marked at mid. It pays no funding.
 */
export interface BenchmarkPoint {
  readonly timeUs: number;
  readonly equity: number;
}

export interface LogRow {
  readonly timeUs: number;
  readonly text: string;
}

/** State of a stopped run, structured-cloneable. `commands` tape commands were played. */
export interface BacktestCheckpoint {
  readonly orrery: 'backtest-checkpoint';
  readonly version: 1;
  readonly tapeCommands: number;
  readonly engine: Uint8Array;
  readonly journalBytes: number;
  /** States of the run's random streams, from which the resumed run continues. */
  readonly random: ReturnType<RandomStreams['save']>;
  readonly state: unknown;
}
