/** Returns by month, as a histogram, and rolling. */
import { dayStartUs } from './calendar.ts';
import { cut, ratePerPeriod, type EquityCurve } from '../../metrics/curve.ts';
import type { MetricsOptions } from '../../metrics/options.ts';
import { sharpe, sortino } from '../../metrics/ratios.ts';
import { betaOf, returnsBeside } from '../../metrics/relative.ts';
import { deviation, extremes, mean } from '../../metrics/sample.ts';

export interface MonthReturn {
  readonly year: number;
  /** 1 … 12, UTC. */
  readonly month: number;
  /** Equity at the end of the month ÷ at its start − 1. */
  readonly value: number;
}

export function monthlyReturns({ timesUs, equity }: EquityCurve): MonthReturn[] {
  const months: MonthReturn[] = [];
  let before = equity[0] ?? 0;
  timesUs.forEach((timeUs, i) => {
    const date = new Date(dayStartUs(timeUs, i) / 1000);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
    const current = months.at(-1);
    const isNew = current?.year !== year || current.month !== month;
    if (isNew && i > 0) before = equity[i - 1] ?? 0;
    if (!isNew) months.pop();
    months.push({ year, month, value: before > 0 ? (equity[i] ?? 0) / before - 1 : 0 });
  });
  return months;
}

export interface Histogram {
  /** Lower edge of the first bin, and the width of each. */
  readonly low: number;
  readonly width: number;
  readonly counts: readonly number[];
}

/** Bins of equal width between min and max; null without two different values. */
export function histogram(values: readonly number[], bins: number): Histogram | null {
  const [low = 0, high = 0] = extremes(values);
  if (values.length < 2 || high <= low) return null;
  const width = (high - low) / bins;
  const counts = new Array<number>(bins).fill(0);
  for (const value of values) {
    const bin = Math.min(bins - 1, Math.floor((value - low) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { low, width, counts };
}

/** Figures of the last periods; those but beta are annualised. */
export interface RollingPoint {
  readonly timeUs: number;
  /** Null if returns do not vary. */
  readonly sharpe: number | null;
  readonly volatility: number | null;
  /** Null without a return below the target. */
  readonly sortino: number | null;
  /** Against the market; null if it does not vary, or lacks one of the periods. */
  readonly beta: number | null;
}

/**
 * Rolling figures over the last `window` periods, from the first full window.
 *
 * @param benchmark buy and hold; null if it cannot be measured
 */
export function rolling(
  curve: EquityCurve,
  benchmark: EquityCurve | null,
  options: MetricsOptions,
  window: number,
): RollingPoint[] {
  const periods = cut(curve, options);
  const { timesUs, returns, perYear } = periods;
  const market = benchmark === null ? [] : returnsBeside(periods, cut(benchmark, options));
  const rate = (yearly: number): number => ratePerPeriod(yearly, perYear, options.ratePerPeriod);
  const [riskFree, target] = [rate(options.riskFree), rate(options.target)];
  const root = Math.sqrt(perYear);
  const yearly = (value: number | null): number | null => (value === null ? null : value * root);
  const points: RollingPoint[] = [];
  for (let end = window; end <= returns.length; end++) {
    const last = returns.slice(end - window, end);
    const beside = market.slice(end - window, end).filter((value) => value !== null);
    const average = mean(last);
    const spread = deviation(last, options.denominator, average);
    points.push({
      timeUs: timesUs[end] ?? 0,
      sharpe: yearly(sharpe(last, riskFree, options.denominator, average, spread)),
      volatility: yearly(spread),
      sortino: yearly(sortino(last, target, options.downside, average)),
      beta: beside.length === window ? betaOf(last, beside) : null,
    });
  }
  return points;
}
