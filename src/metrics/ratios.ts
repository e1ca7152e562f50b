/** Return for risk, from a period's returns. All are a period's own unless they say a year's. */
import { exp } from '../num/special/exp.ts';
import { normalCdf, normalQuantile } from '../num/special/normal.ts';
import type { MetricsOptions } from './options.ts';
import {
  centralMoment,
  deviation,
  excessKurtosis,
  isFlat,
  mean,
  quantile,
  skewness,
  sum,
  type Denominator,
} from './sample.ts';

/**
 * mean(r − riskFree) ÷ deviation(r): Sharpe 1994. Null if returns do not vary. `average` and
 * `spread`: mean and deviation, if they are known.
 */
export function sharpe(
  returns: readonly number[],
  riskFree: number,
  denominator: Denominator,
  average = mean(returns),
  spread = deviation(returns, denominator, average),
): number | null {
  if (average === null || spread === null || isFlat(returns, spread * spread)) return null;
  return (average - riskFree) / spread;
}

/** Inputs of the standard error of a Sharpe ratio. */
export interface SampleShape {
  /** Number of returns. */
  readonly periods: number;
  readonly skewness: number;
  readonly excessKurtosis: number;
}

/** Null if returns do not vary. */
export function shapeOf(returns: readonly number[]): SampleShape | null {
  const skew = skewness(returns, 'population');
  const excess = excessKurtosis(returns, 'population');
  if (skew === null || excess === null) return null;
  return { periods: returns.length, skewness: skew, excessKurtosis: excess };
}

/**
 * Probability that the true Sharpe ratio exceeds a benchmark, given the sample's length, skewness
 * and kurtosis: Bailey and López de Prado, "The Sharpe Ratio Efficient Frontier" (2012), eq. 11.
 * Ratios are per period.
 */
export function probabilisticSharpe(
  ratio: number,
  benchmark: number,
  { periods, skewness: skew, excessKurtosis: excess }: SampleShape,
): number | null {
  // √((1 − γ3·SR + (γ4 − 1)/4·SR²) ÷ (n − 1)), γ4 the raw kurtosis
  const variance = 1 - skew * ratio + ((excess + 2) / 4) * ratio * ratio;
  if (periods < 2 || variance <= 0) return null;
  return normalCdf((ratio - benchmark) / Math.sqrt(variance / (periods - 1)));
}

/** Euler–Mascheroni constant. */
const GAMMA = 0.5772156649015329;

/**
 * Expected best Sharpe ratio of this many trials without skill: Bailey and López de Prado, "The
 * Deflated Sharpe Ratio" (2014), eq. 1. 0 for a single trial.
 */
export function expectedBestSharpe(trials: number, variance: number): number {
  if (trials < 2) return 0;
  const first = normalQuantile(1 - 1 / trials);
  const second = normalQuantile(1 - 1 / (trials * Math.E));
  return Math.sqrt(variance) * ((1 - GAMMA) * first + GAMMA * second);
}

/** Mean excess over the target ÷ downside deviation. Null if no return is below the target. */
export function sortino(
  returns: readonly number[],
  target: number,
  downside: MetricsOptions['downside'],
  average = mean(returns),
): number | null {
  const below = returns.filter((value) => value < target);
  if (average === null || below.length === 0) return null;
  const squares = sum(below.map((value) => (value - target) * (value - target)));
  return (
    (average - target) / Math.sqrt(squares / (downside === 'all' ? returns.length : below.length))
  );
}

/** Gains above the target ÷ losses below it: Keating and Shadwick 2002. Null without losses. */
export function omega(returns: readonly number[], target: number): number | null {
  const gains = sum(returns.map((value) => Math.max(0, value - target)));
  const losses = sum(returns.map((value) => Math.max(0, target - value)));
  return losses > 0 ? gains / losses : null;
}

/** Loss not exceeded at the given confidence, as a positive fraction. */
export function valueAtRisk(
  returns: readonly number[],
  level: number,
  { valueAtRisk: kind, denominator }: Pick<MetricsOptions, 'valueAtRisk' | 'denominator'>,
): number | null {
  if (kind === 'historical') {
    const cutoff = quantile(returns, 1 - level);
    return cutoff === null ? null : -cutoff;
  }
  const average = mean(returns);
  const spread = deviation(returns, denominator);
  if (average === null || spread === null) return null;
  return -(average + spread * normalQuantile(1 - level));
}

/** Mean loss of the periods at or beyond the value at risk (expected shortfall). */
export function conditionalValueAtRisk(
  returns: readonly number[],
  level: number,
  options: Pick<MetricsOptions, 'valueAtRisk' | 'denominator'>,
): number | null {
  if (options.valueAtRisk === 'historical') {
    const cutoff = quantile(returns, 1 - level);
    if (cutoff === null) return null;
    const tail = mean(returns.filter((value) => value <= cutoff));
    return tail === null ? null : -tail;
  }
  const average = mean(returns);
  const spread = deviation(returns, options.denominator);
  if (average === null || spread === null) return null;
  const z = normalQuantile(1 - level);
  const density = exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  return -(average - (spread * density) / (1 - level));
}

/** |upper quantile| ÷ |lower quantile|: above 1, large gains outweigh large losses. */
export function tailRatio(returns: readonly number[], level: number): number | null {
  const high = quantile(returns, level);
  const low = quantile(returns, 1 - level);
  if (high === null || low === null || low === 0) return null;
  return Math.abs(high) / Math.abs(low);
}

/** Kelly's fraction for continuous returns: mean excess ÷ variance. */
export function kellyContinuous(
  returns: readonly number[],
  riskFree: number,
  denominator: Denominator,
): number | null {
  const average = mean(returns);
  const spread = deviation(returns, denominator);
  const variance = centralMoment(returns, 2);
  if (average === null || spread === null || variance === null) return null;
  return isFlat(returns, variance) ? null : (average - riskFree) / (spread * spread);
}
