/**
 * `orrery/backtest`: strategies on recorded data, sweeps over their parameters,
 * walk-forward analysis, and the datasets.
 * Money, prices and sizes that are exact are decimal text; times are microseconds since 1970.
 * Guide: docs/BACKTESTING.md, docs/SEARCH.md and docs/DATA.md.
 * @packageDocumentation
 */
export {
  backtest,
  writeReport,
  type BacktestOptions,
  type BacktestResult,
  type StrategyResult,
} from './backtest.ts';
export { writeCandles, type Candle, type CandleMarket } from './candles.ts';
export type { BacktestStrategy, RunOptions } from './options.ts';
export type { Objective, SearchOptions, Variation } from './search-options.ts';
export { sweep, type SweepOptions, type SweepResult, type SweepTrial } from './sweep.ts';
export {
  walkForward,
  type WalkForwardOptions,
  type WalkForwardResult,
  type WalkWindow,
} from './walk-forward.ts';
export type {
  BenchmarkPoint,
  EquityPoint,
  FillRow,
  FundingRow,
  LiquidationRow,
  LogRow,
  MarketOutput,
  MarketPoint,
  OrderRow,
  PositionRow,
  StrategyOutput,
  RefusalRow,
  StrategySummary,
  TransferRow,
} from '../../backtest/output.ts';
export type { Report, StrategyReport } from '../../report/report.ts';
export type { ExitReason, RoundTrip } from '../../report/analysis/round-trips.ts';
export type { Metrics } from '../../metrics/metrics.ts';
export { defineStrategy, StrategyError } from '../../strategy/definition.ts';
export { StrategyFault } from '../../strategy/strategy-fault.ts';
export { SearchError } from '../../search/samplers/space.ts';
export { WorkerError } from '../../search/workers/trial-pool.ts';
export {
  openDataset,
  type Dataset,
  type DatasetMarket,
  type ReadOptions,
  type TapeReading,
} from '../../tape-files/dataset-files.ts';
export { TapeError, type TapeRecord } from '../../tape/record.ts';
export { UserError } from '../../base/user-error.ts';
export { FileError } from '../../platform/file-error.ts';
