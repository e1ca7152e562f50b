/**
 * What a backtest recorded, as plain data: reports, metrics and searches are made of this alone. Exact figures are
 * decimal text (money in units of the collateral, prices and sizes of their market); samples for drawing and statistics are
 * numbers. Times are µs since the Unix epoch. Everything but `engine` goes through structured cloning.
 */
import type { Exchange } from '../engine/exchange.ts';
import type { RandomStreams } from '../virtual-time/rng.ts';
import type { ParameterValues } from '../strategy/definition.ts';

/** How long after a fill the mid is looked at again. */
export const MARKOUT_HORIZONS_US = [1_000_000, 10_000_000, 60_000_000] as const;

export interface BacktestOutput {
  /** The first instant that counts: the end of the warm-up. */
  readonly firstUs: number;
  readonly lastUs: number;
  /** Samples stand on whole multiples of this. */
  readonly sampleUs: number;
  readonly seed: string;
  readonly markets: readonly MarketOutput[];
  /** Those that report, in the order given. */
  readonly strategies: readonly StrategyOutput[];
  readonly commands: number;
  readonly chainHash: string;
  readonly stateHash: string;
  /** The whole journal when it was kept in memory; empty when it went to a sink or was not kept. */
  readonly journal: Uint8Array;
  readonly engine: Exchange;
  readonly cancelled: boolean;
  /** What goes on where a cancelled run stopped; null when the run ended, or when a strategy cannot be saved. */
  readonly checkpoint: BacktestCheckpoint | null;
}

export interface MarketOutput {
  readonly symbol: string;
  readonly tickSize: string;
  readonly lotSize: string;
  readonly series: readonly MarketPoint[];
  /** Times without a book: from a gap of the recording to the next snapshot, `toUs` the end of the run when none came. */
  readonly gaps: readonly { readonly fromUs: number; readonly toUs: number }[];
  readonly fundingRates: readonly { readonly timeUs: number; readonly rate: string }[];
  readonly trades: number;
  readonly volume: string;
}

export interface MarketPoint {
  readonly timeUs: number;
  /** null while a side of the book is empty, or the market has none. */
  readonly mid: number | null;
  readonly mark: number | null;
  readonly index: number | null;
  /** Best ask less best bid. */
  readonly spread: number | null;
  /** Size at the best bid and ask. */
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
}

/** Exact. equityEnd − equityStart = pnlTrading + fees + funding + liquidation + transfers. */
export interface StrategySummary {
  readonly equityStart: string;
  readonly equityEnd: string;
  readonly pnl: string;
  /** Realised and unrealised price gains. */
  readonly pnlTrading: string;
  /** Negative when paid, positive for rebates. Their sum is `pnlFees`. */
  readonly pnlFees: string;
  readonly feesMaker: string;
  readonly feesTaker: string;
  readonly feesOriginator: string;
  readonly pnlFunding: string;
  /** Liquidation fees, insurance, positions taken over and auto-deleveraging. */
  readonly pnlLiquidation: string;
  /** Deposits less withdrawals after the start. */
  readonly transfers: string;
  readonly fills: number;
  readonly makerFills: number;
  readonly orders: number;
  readonly rejectedOrders: number;
  /** Requests that the exchange refused before there was an order, and those that a fault took. */
  readonly refusedRequests: number;
  /** Σ size × price of fills. */
  readonly turnover: string;
  readonly positions: readonly PositionRow[];
  /** Largest fall of equity from an earlier high, over samples and fills. */
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
  /** With open positions at mark. */
  readonly equity: number;
  readonly balance: number;
  /** Signed positions, one for each of the run's markets. */
  readonly positions: readonly number[];
  /** Σ |position| × mark. */
  readonly exposure: number;
  /** exposure ÷ equity; 0 without equity. */
  readonly leverage: number;
  /** Initial requirement (positions and orders) ÷ equity. */
  readonly marginUsage: number;
  /** Maintenance requirement ÷ equity: liquidation begins at 1. */
  readonly maintenanceUsage: number;
}

export interface OrderRow {
  readonly orderId: string;
  /** The engine's number of it, as in the journal. */
  readonly orderNumber: number;
  readonly clientId: string | null;
  readonly symbol: string;
  readonly orderType: string;
  readonly side: 'buy' | 'sell';
  readonly price: string;
  readonly size: string;
  readonly ioc: boolean;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  /** When the strategy decided, and when the exchange had it; equal for the engine's own orders. */
  readonly sentUs: number;
  readonly arrivedUs: number;
  /** Mid of the book when it was sent and when it arrived. */
  readonly sentMid: number | null;
  readonly arrivalMid: number | null;
  /** When it first stood on the book, and how much stood ahead of it; null when it never did. */
  readonly restedUs: number | null;
  readonly queueAhead: string | null;
  /** null while it lives. */
  readonly endedUs: number | null;
  readonly status: string;
  readonly reason: string | null;
  readonly filled: string;
}

export interface FillRow {
  readonly fillId: number;
  readonly timeUs: number;
  readonly symbol: string;
  readonly orderId: string;
  readonly orderNumber: number;
  readonly side: 'buy' | 'sell';
  readonly role: 'maker' | 'taker';
  readonly price: string;
  readonly size: string;
  /** Positive when paid. */
  readonly fee: string;
  readonly originatorFee: string;
  /** By what the fill closed, before fees and funding. */
  readonly realizedPnl: string;
  readonly realizedFunding: string;
  /** After the fill, signed. */
  readonly position: string;
  /** Set by the engine's own liquidation order. */
  readonly liquidation: boolean;
  readonly sentUs: number;
  readonly arrivedUs: number;
  readonly arrivalMid: number | null;
  /** From first standing on the book to this fill; 0 for a taker. */
  readonly queueWaitUs: number;
  /** Just before the command that filled. */
  readonly midBefore: number | null;
  /** After each of `MARKOUT_HORIZONS_US`; null when the run ended before, or had no mid. */
  readonly markouts: readonly (number | null)[];
}

export interface FundingRow {
  readonly timeUs: number;
  readonly symbol: string;
  readonly rate: string;
  /** Positive when received. */
  readonly payment: string;
  readonly position: string;
}

export interface LiquidationRow {
  readonly timeUs: number;
  /** null when the step is about all cross positions. */
  readonly symbol: string | null;
  readonly step: string;
  readonly equity: string;
  readonly maintenance: string;
  /** Signed size that the step sent to the book or handed over. */
  readonly size: string;
  readonly limitPrice: string | null;
  readonly bankruptcyPrice: string | null;
  readonly amount: string;
}

export interface TransferRow {
  readonly timeUs: number;
  readonly reason: string;
  readonly amount: string;
}

/** Buy and hold: the whole balance in the first market at the first mid, fee paid, marked at mid. */
export interface BenchmarkPoint {
  readonly timeUs: number;
  readonly equity: number;
}

export interface LogRow {
  readonly timeUs: number;
  readonly text: string;
}

/** A run at rest: plain data for structured cloning. `commands` of the tape are behind it. */
export interface BacktestCheckpoint {
  readonly orrery: 'backtest-checkpoint';
  readonly version: 1;
  readonly tapeCommands: number;
  readonly engine: Uint8Array;
  readonly journalBytes: number;
  /** States of the run's random streams: the streams of the run that goes on are made of these. */
  readonly random: ReturnType<RandomStreams['save']>;
  readonly state: unknown;
}
