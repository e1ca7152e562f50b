/**
 * `orrery/metrics`: figures of an equity curve and of closed trades. Ratios are fractions (0.1 is
 * 10 %), times are microseconds since 1970, and a figure that the data cannot give is null.
 * Definitions and conventions: docs/METRICS.md.
 * @packageDocumentation
 */
export {
  metricsOf,
  type Metrics,
  type ReturnMetrics,
  type Trials,
  type UseMetrics,
} from './metrics.ts';
export { furtherMetrics, type FurtherMetrics } from './further.ts';
export { relativeMetrics, type RelativeMetrics } from './relative.ts';
export { METRICS_DEFAULTS, type MetricsOptions } from './options.ts';
export type { TradeMetrics, TradeRow } from './closed-trades.ts';
export { UserError } from '../base/user-error.ts';
export { cut, MetricsError, type EquityCurve, type Periods } from './curve.ts';
export { drawdowns, underwater, type Drawdown } from './drawdowns.ts';
export { bootstrap, type Band, type BootstrapBands, type BootstrapOptions } from './bootstrap.ts';
export { overfitting, type Overfitting } from './overfitting.ts';
export { RandomStreams, type RandomStream } from '../virtual-time/rng.ts';
