/**
 * Figures that tear sheets of other tools print beside those of `metricsOf`: shape of the returns,
 * mean drawdown, streaks. Null where undefined. Definitions: docs/METRICS.md.
 */
import { ln } from '../num/special/ln.ts';
import { pow } from '../num/special/pow.ts';
import { checkCurve, cut, ratePerPeriod, type EquityCurve } from './curve.ts';
import { drawdowns, ulcerIndex } from './drawdowns.ts';
import { checkedOptions } from './checked-options.ts';
import type { MetricsOptions } from './options.ts';
import { sharpe, sortino, tailRatio } from './ratios.ts';
import { centralMoment, isFlat, longestRun, maxOf, mean, quantile, sum } from './sample.ts';

export interface FurtherMetrics {
  /** √(mean of squared shortfalls below the target) × √(periods per year). */
  readonly downsideRisk: number | null;
  /** Sharpe ÷ √(1 + 2·Σ (1 − k/n)·|ρ|^k): less for returns that follow each other. */
  readonly smartSharpe: number | null;
  readonly smartSortino: number | null;
  /** Correlation of a return with the one before. */
  readonly autocorrelation: number | null;
  /** R² of a straight line through the logarithm of growth: 1 is steady. */
  readonly stability: number | null;
  /** Geometric mean of a period's return. */
  readonly meanReturn: number | null;
  /** Σ returns ÷ Σ losses. */
  readonly gainToPain: number | null;
  /** Mean gain ÷ mean loss of a period. */
  readonly payoffOfPeriods: number | null;
  /** Σ gains ÷ Σ losses, × the tail ratio. */
  readonly commonSense: number | null;
  /** Σ gains ÷ Σ losses, × share of gains among periods that moved, × payoff. */
  readonly cpcIndex: number | null;
  /** Total return ÷ largest drawdown. */
  readonly recoveryFactor: number | null;
  /** Total return ÷ Ulcer index. */
  readonly ulcerPerformance: number | null;
  readonly meanDrawdown: number | null;
  /** From peak to recovery, or to the end of the curve. */
  readonly meanDrawdownUs: number | null;
  /** ((1 − w) ÷ (1 + w))^n, w the share of gains among periods that moved. */
  readonly riskOfRuin: number | null;
  /** Quantile 0.99 ÷ mean gain; quantile 0.01 ÷ mean loss. */
  readonly outlierGain: number | null;
  readonly outlierLoss: number | null;
  /** Most periods in a row with a gain; with a loss. */
  readonly gainsInARow: number;
  readonly lossesInARow: number;
}

/** Throws `MetricsError` on an invalid curve. */
export function furtherMetrics(
  curve: EquityCurve,
  given: Partial<MetricsOptions> = {},
): FurtherMetrics {
  const options = checkedOptions(given);
  checkCurve(curve);
  const { returns, perYear } = cut(curve, options);
  const simple = cut(curve, { ...options, returns: 'simple' }).returns;
  const root = Math.sqrt(perYear);
  const rate = (yearly: number): number => ratePerPeriod(yearly, perYear, options.ratePerPeriod);
  const target = rate(options.target);
  const falls = drawdowns(curve);
  const endUs = curve.timesUs.at(-1) ?? 0;
  const total = (curve.equity.at(-1) ?? 0) / (curve.equity[0] ?? 1) - 1;
  const gains = returns.filter((value) => value > 0);
  const losses = returns.filter((value) => value < 0);
  const meanGain = mean(gains);
  const meanLoss = mean(losses);
  const profitFactor = ratioOf(sum(gains), -sum(losses));
  const payoff = meanGain === null || meanLoss === null ? null : meanGain / -meanLoss;
  const moved = gains.length + losses.length;
  const winRate = moved === 0 ? null : gains.length / moved;
  const penalty = autocorrelationPenalty(returns);
  const penalised = (value: number | null): number | null =>
    value === null || penalty === null ? null : (value * root) / penalty;
  return {
    downsideRisk: downsideRisk(returns, target, root),
    smartSharpe: penalised(sharpe(returns, rate(options.riskFree), options.denominator)),
    smartSortino: penalised(sortino(returns, target, options.downside)),
    autocorrelation: autocorrelation(returns),
    stability: stability(simple),
    meanReturn: geometricMean(simple),
    gainToPain: ratioOf(sum(returns), -sum(losses)),
    payoffOfPeriods: payoff,
    commonSense: product(profitFactor, tailRatio(returns, options.level)),
    cpcIndex: product(profitFactor, winRate, payoff),
    recoveryFactor: ratioOf(total, maxOf(falls.map(({ depth }) => depth))),
    ulcerPerformance: ratioOf(total, ulcerIndex(curve.equity)),
    meanDrawdown: mean(falls.map(({ depth }) => depth)),
    meanDrawdownUs: mean(falls.map(({ peakUs, recoveredUs }) => (recoveredUs ?? endUs) - peakUs)),
    riskOfRuin: winRate === null ? null : pow((1 - winRate) / (1 + winRate), returns.length),
    outlierGain: product(quantile(returns, 0.99), inverse(meanGain)),
    outlierLoss: product(quantile(returns, 0.01), inverse(meanLoss)),
    gainsInARow: longestRun(returns, (value) => value > 0),
    lossesInARow: longestRun(returns, (value) => value < 0),
  };
}

/** Null unless the divisor is above 0. */
export function ratioOf(value: number, divisor: number): number | null {
  return divisor > 0 ? value / divisor : null;
}

const inverse = (value: number | null): number | null =>
  value === null || value === 0 ? null : 1 / value;

function product(...factors: readonly (number | null)[]): number | null {
  return factors.reduce((all, one) => (all === null || one === null ? null : all * one), 1);
}

function downsideRisk(returns: readonly number[], target: number, root: number): number | null {
  if (returns.length === 0) return null;
  const squares = returns.map((value) => Math.min(0, value - target) * Math.min(0, value - target));
  return Math.sqrt(sum(squares) / returns.length) * root;
}

/** Pearson's correlation; null below two pairs, or if a sample does not vary. */
export function correlation(left: readonly number[], right: readonly number[]): number | null {
  return correlationOf(measured(left), measured(right));
}

/** A sample with its mean and variance. */
export interface Measured {
  readonly values: readonly number[];
  readonly centre: number | null;
  readonly variance: number | null;
}

export function measured(values: readonly number[]): Measured {
  const centre = mean(values);
  return { values, centre, variance: centralMoment(values, 2, centre) };
}

export function correlationOf(
  { values: left, centre: a, variance: va }: Measured,
  { values: right, centre: b, variance: vb }: Measured,
): number | null {
  if (left.length < 2 || a === null || b === null || va === null || vb === null) return null;
  if (isFlat(left, va) || isFlat(right, vb)) return null;
  const cross = sum(left.map((value, i) => (value - a) * ((right[i] ?? 0) - b))) / left.length;
  return cross / Math.sqrt(va * vb);
}

const autocorrelation = (returns: readonly number[]): number | null =>
  correlation(returns.slice(1), returns.slice(0, -1));

function autocorrelationPenalty(returns: readonly number[]): number | null {
  const first = autocorrelation(returns);
  if (first === null) return null;
  const n = returns.length;
  let power = 1;
  const terms: number[] = [];
  for (let k = 1; k < n && power > 0; k++) {
    power *= Math.abs(first);
    terms.push(((n - k) / n) * power);
  }
  return Math.sqrt(1 + 2 * sum(terms));
}

function stability(returns: readonly number[]): number | null {
  if (returns.length < 2 || returns.some((value) => value <= -1)) return null;
  let growth = 0;
  const line = returns.map((value) => (growth += ln(1 + value)));
  const r = correlation(
    line,
    line.map((_, i) => i),
  );
  return r === null ? null : r * r;
}

/** Of simple returns. Null if one is a loss of everything. */
export function geometricMean(returns: readonly number[]): number | null {
  if (returns.length === 0 || returns.some((value) => value <= -1)) return null;
  const growth = returns.reduce((all, value) => all * (1 + value), 1);
  return pow(growth, 1 / returns.length) - 1;
}
