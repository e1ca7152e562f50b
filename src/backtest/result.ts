/**
 * What a run leaves behind, as plain data: reports, tables and programs draw from this. Money is decimal text in units
 * of the collateral, prices and sizes decimal text of the market, times microseconds since the Unix epoch.
 */

export interface BacktestSummary {
  readonly symbol: string;
  readonly strategy: string;
  readonly firstUs: number;
  readonly lastUs: number;
  readonly equityStart: string;
  readonly equityEnd: string;
  /** equityEnd − equityStart = trading + fees + funding, exactly. */
  readonly pnl: string;
  /** Realised and unrealised price gains. */
  readonly pnlTrading: string;
  /** Negative when paid. */
  readonly pnlFees: string;
  readonly pnlFunding: string;
  readonly fills: number;
  readonly makerFills: number;
  readonly orders: number;
  readonly rejectedOrders: number;
  /** Σ |size| and Σ |size| × price of the strategy's fills. */
  readonly volume: string;
  readonly turnover: string;
  readonly finalPosition: string;
  /** Largest fall of equity from an earlier high, over the sampled series. */
  readonly maxDrawdown: string;
  readonly maxPosition: string;
  readonly commands: number;
  readonly chainHash: string;
  readonly stateHash: string;
}

/** One sample of every curve. Numbers are for drawing only; exact figures are in the summary. */
export interface SeriesPoint {
  readonly timeUs: number;
  readonly mid: number;
  readonly mark: number;
  readonly equity: number;
  readonly drawdown: number;
  readonly position: number;
  /** |position| × mark ÷ equity. */
  readonly leverage: number;
}

export interface FillRow {
  readonly timeUs: number;
  readonly side: 'buy' | 'sell';
  readonly role: 'maker' | 'taker';
  readonly price: string;
  readonly size: string;
  readonly fee: string;
  readonly realizedPnl: string;
  readonly orderNumber: number;
}

export interface Note {
  readonly title: string;
  readonly text: string;
}

export interface BacktestResult {
  readonly orrery: 'backtest';
  readonly version: 1;
  readonly title: string;
  readonly summary: BacktestSummary;
  readonly series: readonly SeriesPoint[];
  /** Time between two samples, µs. */
  readonly sampleUs: number;
  readonly fills: readonly FillRow[];
  /** What was assumed, said on the report's first page. */
  readonly assumptions: readonly Note[];
  /** Where the data come from, what they lack, what was repaired. */
  readonly data: readonly Note[];
  /** How figures are computed. */
  readonly conventions: readonly Note[];
  /** How anyone repeats and verifies this run. */
  readonly verify: readonly string[];
}
