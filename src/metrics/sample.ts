/**
 * Statistics of a sample of float64 numbers. Sums are compensated (Neumaier), so that a million
 * small returns lose no precision. An undefined statistic is null.
 */

/** Divisor of a variance: n − 1 ('sample', unbiased) or n ('population'). */
export type Denominator = 'sample' | 'population';

/** Neumaier's compensated sum. */
export function sum(values: readonly number[]): number {
  let total = 0;
  let lost = 0;
  // By index: reports sum windows of most of their samples, in code that is not compiled yet.
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0;
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}

export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : sum(values) / values.length;
}

/** Σ (x − mean)^power ÷ n. `centre`: the mean, if it is known. */
export function centralMoment(
  values: readonly number[],
  power: 2 | 3 | 4,
  centre = mean(values),
): number | null {
  if (centre === null) return null;
  const terms: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const distance = (values[i] ?? 0) - centre;
    const square = distance * distance;
    terms.push(power === 2 ? square : power === 3 ? square * distance : square * square);
  }
  return sum(terms) / values.length;
}

/** Null below two values ('sample') or one ('population'). `centre`: the mean, if it is known. */
export function deviation(
  values: readonly number[],
  denominator: Denominator,
  centre = mean(values),
): number | null {
  const moment = centralMoment(values, 2, centre);
  const divisor = values.length - (denominator === 'sample' ? 1 : 0);
  if (moment === null || divisor < 1) return null;
  return Math.sqrt((moment * values.length) / divisor);
}

/**
 * Skewness: g1 = m3 ÷ m2^1.5 ('population'), or G1 = g1·√(n(n−1)) ÷ (n−2) ('sample', needs three
 * values). Null if all values are equal.
 */
export function skewness(values: readonly number[], denominator: Denominator): number | null {
  const n = values.length;
  const second = centralMoment(values, 2);
  const third = centralMoment(values, 3);
  if (second === null || third === null || isFlat(values, second)) return null;
  const g1 = third / (second * Math.sqrt(second));
  if (denominator === 'population') return g1;
  return n < 3 ? null : (g1 * Math.sqrt(n * (n - 1))) / (n - 2);
}

/**
 * Excess kurtosis: g2 = m4 ÷ m2² − 3 ('population'), or G2 = (n−1) ÷ ((n−2)(n−3)) · ((n+1)·g2 + 6)
 * ('sample', needs four values). Null if all values are equal.
 */
export function excessKurtosis(values: readonly number[], denominator: Denominator): number | null {
  const n = values.length;
  const second = centralMoment(values, 2);
  const fourth = centralMoment(values, 4);
  if (second === null || fourth === null || isFlat(values, second)) return null;
  const g2 = fourth / (second * second) - 3;
  if (denominator === 'population') return g2;
  return n < 4 ? null : ((n - 1) / ((n - 2) * (n - 3))) * ((n + 1) * g2 + 6);
}

/**
 * Whether the variance is only the rounding error of equal values: ratios to it are meaningless.
 */
export function isFlat(values: readonly number[], variance: number): boolean {
  let size = 0;
  for (let i = 0; i < values.length; i++) {
    const own = Math.abs(values[i] ?? 0);
    if (own > size) size = own;
  }
  return Math.sqrt(variance) <= size * 1e-12;
}

/** Max of a sample of any length, at least 0: `Math.max(...)` has a limit of arguments. */
export function maxOf(values: Iterable<number>): number {
  let high = 0;
  for (const value of values) high = Math.max(high, value);
  return high;
}

/** Min and max; empty for an empty sample. */
export function extremes(values: readonly number[]): readonly number[] {
  if (values.length === 0) return [];
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/**
 * Linear interpolation between order statistics at (n − 1)·p: type 7 of Hyndman and Fan, the
 * default of numpy and R.
 */
export function quantile(values: readonly number[], p: number): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (sorted.length - 1) * p;
  const below = Math.floor(at);
  const low = sorted[below] ?? 0;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? low;
  return low + (high - low) * (at - below);
}

/** Length of the longest run of consecutive values for which `holds` is true. */
export function longestRun(values: readonly number[], holds: (value: number) => boolean): number {
  let longest = 0;
  let run = 0;
  for (const value of values) {
    run = holds(value) ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}
