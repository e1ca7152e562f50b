/**
 * Stylised facts of a market's prices: fat tails of returns, volatility clustering (autocorrelation
 * of |returns|) without autocorrelation of returns, and the distribution of spread and depth at the
 * best prices. Computed from the samples of a run; descriptive, without significance tests.
 */
import type { MarketOutput, MarketPoint } from './output.ts';

export interface StylisedFacts {
  readonly symbol: string;
  readonly samples: number;
  /**
   * Excess kurtosis (0 for a normal distribution) and standard deviation in 1/10,000 of returns
   * over this many samples.
   */
  readonly returns: readonly {
    readonly lag: number;
    readonly count: number;
    readonly deviationBp: number;
    readonly excessKurtosis: number;
  }[];
  /**
   * Hill estimator of the tail exponent over the largest 5 % of |returns|; about 3 in most markets.
   */
  readonly tailExponent: number | null;
  /** Autocorrelation of returns and of |returns| at a lag in samples. */
  readonly autocorrelation: readonly {
    readonly lag: number;
    readonly returns: number;
    readonly absolute: number;
  }[];
  readonly spread: Quantiles;
  /** Size at the best bid plus the best ask. */
  readonly depth: Quantiles;
}

export interface Quantiles {
  readonly p5: number;
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  readonly p95: number;
}

const RETURN_LAGS = [1, 10, 60] as const;
const CORRELATION_LAGS = [1, 2, 5, 10, 20, 50] as const;
const TAIL = 20;

export function stylisedFacts({ symbol, series }: MarketOutput): StylisedFacts {
  const quoted = series.filter(
    (point): point is MarketPoint & { mid: number } => point.mid !== null,
  );
  const mids = quoted.map(({ mid }) => mid);
  const returns = returnsOf(mids, 1);
  const sizes = returns.map(Math.abs);
  return {
    symbol,
    samples: mids.length,
    returns: RETURN_LAGS.map((lag) => {
      const some = returnsOf(mids, lag);
      return {
        lag,
        count: some.length,
        deviationBp: Math.sqrt(moment(some, 2)) * 1e4,
        excessKurtosis: kurtosis(some) - 3,
      };
    }).filter(({ count }) => count > 3),
    tailExponent: hill(sizes),
    autocorrelation: CORRELATION_LAGS.filter((lag) => lag * 3 < returns.length).map((lag) => ({
      lag,
      returns: autocorrelation(returns, lag),
      absolute: autocorrelation(sizes, lag),
    })),
    spread: quantiles(quoted.flatMap(({ spread }) => (spread === null ? [] : [spread]))),
    depth: quantiles(quoted.map(({ bidSize, askSize }) => bidSize + askSize)),
  };
}

/** Returns over `lag` samples, not overlapping. */
export function returnsOf(mids: readonly number[], lag: number): number[] {
  const returns: number[] = [];
  for (let i = lag; i < mids.length; i += lag) {
    const before = mids[i - lag] ?? 0;
    if (before > 0) returns.push((mids[i] ?? before) / before - 1);
  }
  return returns;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Central moment. */
function moment(values: readonly number[], order: 2 | 4): number {
  const middle = mean(values);
  return mean(
    values.map((value) => {
      const square = (value - middle) * (value - middle);
      return order === 2 ? square : square * square;
    }),
  );
}

function kurtosis(values: readonly number[]): number {
  const variance = moment(values, 2);
  return variance === 0 ? 3 : moment(values, 4) / (variance * variance);
}

/** Autocorrelation of values at a lag. */
export function autocorrelation(values: readonly number[], lag: number): number {
  const middle = mean(values);
  let above = 0;
  let below = 0;
  values.forEach((value, i) => {
    below += (value - middle) * (value - middle);
    const later = values[i + lag];
    if (later !== undefined) above += (value - middle) * (later - middle);
  });
  return below === 0 ? 0 : above / below;
}

/**
 * 1 ÷ mean of ln(x ÷ x_min) over the largest values. The logarithm is the series of 2
 * artanh((r−1)/(r+1)), which is identical on every machine.
 */
function hill(sizes: readonly number[]): number | null {
  const sorted = sizes.filter((size) => size > 0).sort((a, b) => b - a);
  const count = Math.floor(sorted.length / TAIL);
  const minimum = sorted[count];
  if (count < 10 || minimum === undefined) return null;
  const sum = sorted.slice(0, count).reduce((total, size) => total + logarithm(size / minimum), 0);
  return sum === 0 ? null : count / sum;
}

/** Natural logarithm for r ≥ 1. */
function logarithm(ratio: number): number {
  let halvings = 0;
  let rest = ratio;
  while (rest > 2) {
    rest /= 2;
    halvings += 1;
  }
  const z = (rest - 1) / (rest + 1);
  let term = z;
  let sum = 0;
  for (let n = 1; n < 60; n += 2) {
    sum += term / n;
    term *= z * z;
  }
  return 2 * sum + halvings * Math.LN2;
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { p5: at(0.05), p25: at(0.25), p50: at(0.5), p75: at(0.75), p95: at(0.95) };
}
