/**
 * A curve against a benchmark, such as buy and hold of the market. Returns are compared where both
 * curves have a period of the same start and end.
 */
import { checkCurve, cut, ratePerPeriod, type EquityCurve, type Periods } from './curve.ts';
import { correlation, correlationOf, geometricMean, measured } from './further.ts';
import { checkedOptions } from './checked-options.ts';
import type { MetricsOptions } from './options.ts';
import { deviation, isFlat, mean } from './sample.ts';

export interface RelativeMetrics {
  /** Number of periods that both curves have. */
  readonly periods: number;
  /** Mean excess return − beta × that of the benchmark, × periods per year. */
  readonly alpha: number | null;
  /** Covariance with the benchmark ÷ its variance. */
  readonly beta: number | null;
  readonly correlation: number | null;
  /** Square of the correlation. */
  readonly rSquared: number | null;
  /** Mean of the differences of returns ÷ their deviation, × √(periods per year). */
  readonly informationRatio: number | null;
  /** Deviation of the differences of returns × √(periods per year). */
  readonly trackingError: number | null;
  /** Mean excess return × periods per year ÷ beta. */
  readonly treynor: number | null;
  /** Geometric mean return while the benchmark gains ÷ that of the benchmark. */
  readonly upCapture: number | null;
  readonly downCapture: number | null;
  /** Fraction of periods with a higher return than the benchmark. */
  readonly battingAverage: number | null;
}

/** Throws `MetricsError` on an invalid curve. */
export function relativeMetrics(
  curve: EquityCurve,
  benchmark: EquityCurve,
  given: Partial<MetricsOptions> = {},
): RelativeMetrics {
  const options = checkedOptions(given);
  checkCurve(curve);
  checkCurve(benchmark);
  const own = cut(curve, options);
  const [returns, market] = paired(own, cut(benchmark, options));
  const asSimple = { ...options, returns: 'simple' } as const;
  const [simple, simpleMarket] = paired(cut(curve, asSimple), cut(benchmark, asSimple));
  const { perYear } = own;
  const root = Math.sqrt(perYear);
  const riskFree = ratePerPeriod(options.riskFree, perYear, options.ratePerPeriod);
  const beta = betaOf(returns, market);
  const [average, other] = [mean(returns), mean(market)];
  const excess = average === null ? null : average - riskFree;
  const active = returns.map((value, i) => value - (market[i] ?? 0));
  const spread = deviation(active, options.denominator);
  const meanActive = mean(active);
  const isSame = spread === null || isFlat(active, spread * spread);
  const r = correlation(returns, market);
  return {
    periods: returns.length,
    alpha:
      beta === null || excess === null || other === null
        ? null
        : (excess - beta * (other - riskFree)) * perYear,
    beta,
    correlation: r,
    rSquared: r === null ? null : r * r,
    informationRatio: isSame || meanActive === null ? null : (meanActive / spread) * root,
    trackingError: spread === null ? null : spread * root,
    treynor: beta === null || beta === 0 || excess === null ? null : (excess * perYear) / beta,
    upCapture: capture(simple, simpleMarket, (value) => value > 0),
    downCapture: capture(simple, simpleMarket, (value) => value < 0),
    battingAverage:
      active.length === 0 ? null : active.filter((value) => value > 0).length / active.length,
  };
}

/** Returns of periods with the same start and end. */
function paired(own: Periods, other: Periods): readonly [number[], number[]] {
  const beside = returnsBeside(own, other);
  return [
    own.returns.filter((_, i) => beside[i] !== null),
    beside.filter((value) => value !== null),
  ];
}

/** For each return, that of the other curve from the same start to the same end; else null. */
export function returnsBeside(own: Periods, other: Periods): (number | null)[] {
  const ends = new Map(other.timesUs.map((timeUs, i) => [timeUs, i]));
  return own.returns.map((_, i) => {
    const end = ends.get(own.timesUs[i + 1] ?? NaN);
    if (end === undefined || end === 0) return null;
    if (other.timesUs[end - 1] !== own.timesUs[i]) return null;
    return other.returns[end - 1] ?? null;
  });
}

/** Covariance ÷ variance of the market; null if the market does not vary. */
export function betaOf(returns: readonly number[], market: readonly number[]): number | null {
  const [one, two] = [measured(returns), measured(market)];
  const r = correlationOf(one, two);
  const [own, other] = [one.variance, two.variance];
  if (own === null || other === null) return null;
  // A curve that does not move has no exposure.
  if (r === null) return returns.length >= 2 && !isFlat(market, other) ? 0 : null;
  return r * Math.sqrt(own / other);
}

function capture(
  returns: readonly number[],
  market: readonly number[],
  holds: (value: number) => boolean,
): number | null {
  const kept = market.flatMap((value, i) => (holds(value) ? [i] : []));
  const own = geometricMean(kept.map((i) => returns[i] ?? 0));
  const other = geometricMean(kept.map((i) => market[i] ?? 0));
  return own === null || other === null || other === 0 ? null : own / other;
}
