/** The record of a live run: `live.json`. */
import type { EquityPoint, LogRow, PlotOutput } from '../backtest/output.ts';
import type { OrderRecordShape } from '../contract/schemas.ts';
import type { ParameterValues } from '../strategy/definition.ts';
import type { FillUpdate, OrderUpdate } from '../strategy/strategy.ts';
import type { RunTerms } from '../run-plan/run-terms.ts';

/** A run that keeps a record while it goes. */
export interface LiveRecorder {
  /** Runs until it is stopped. Rejects with a feed's error or a `StrategyFault`. */
  complete(): Promise<LiveRecord>;
  /** What is recorded so far. `failure`: why the run ended early. */
  record(failure: string | null): LiveRecord;
}

/** An order of the strategy with its response. A submit without one is a row, as is its batch. */
export interface LiveOrder {
  readonly sentUs: number;
  readonly answeredUs: number;
  /** Null if it was rejected, or had no answer. */
  readonly order: OrderRecordShape | null;
  /** Null if it was placed; begins with `no answer` if it may have been. */
  readonly refusal: string | null;
}

/** A lost connection in which fills are missing, or may be. */
export interface LiveGap {
  /** Time without a connection. */
  readonly fromUs: number;
  readonly toUs: number;
  /** Why the exchange does not give the fills of that time; null if it gave all that it has. */
  readonly unknownFills: string | null;
  /** Positions that differed; the run went on with those of the exchange. */
  readonly positions: readonly {
    readonly symbol: string;
    readonly counted: string;
    readonly exchange: string;
  }[];
  /** Balance at the exchange afterwards; null if it could not be read, nor positions compared. */
  readonly balance: string | null;
}

export interface LiveRecord {
  readonly orrery: 'live';
  readonly version: 1;
  readonly strategy: string;
  readonly parameters: ParameterValues;
  readonly startedUs: number;
  readonly endedUs: number;
  readonly orders: readonly LiveOrder[];
  readonly fills: readonly FillUpdate[];
  /** Final update of each order. */
  readonly ends: readonly OrderUpdate[];
  /** `replay`: times are those of a replay on a virtual clock, as in a backtest. */
  readonly clock: 'wall' | 'replay';
  /** Samples of a replay; empty on a wall clock. */
  readonly equity: readonly Pick<EquityPoint, 'timeUs' | 'equity' | 'balance'>[];
  readonly log: readonly LogRow[];
  /** Why the run ended early; null if it did not. Absent in records of earlier versions. */
  readonly failure?: string | null;
  /** Lost connections with missing fills; absent in records of earlier versions and in replays. */
  readonly gaps?: readonly LiveGap[];
  /** Tags by the nonce of the order; absent in records of earlier versions. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly plots?: readonly PlotOutput[];
  /** Orders of other accounts in a replay; absent on a wall clock, where they are the market. */
  readonly foreignOrders?: number;
  /** Terms of a replay by name; absent on a wall clock. */
  readonly terms?: RunTerms;
}
