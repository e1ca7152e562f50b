/**
 * Probability of backtest overfitting by combinatorially symmetric cross-validation. Bailey,
 * Borwein, López de Prado and Zhu, "The Probability of Backtest Overfitting" (2015).
 */
import { ln } from '../num/special/ln.ts';
import { MetricsError, mustBeList, mustBeReturns } from './curve.ts';
import { centralMoment, extremes, mean, quantile } from './sample.ts';

export interface Overfitting {
  /** Fraction of the splits in which the best in sample is at or below the median out of sample. */
  readonly probability: number;
  /**
   * Fraction of the splits in which the best in sample has a negative Sharpe ratio out of sample.
   */
  readonly lossProbability: number;
  /** Median of ln(ω ÷ (1 − ω)), ω the relative rank out of sample of the best in sample. */
  readonly medianLogit: number;
  /**
   * Least-squares slope of the best trial's Sharpe ratio out of sample on the one in sample; null
   * if flat.
   */
  readonly degradation: number | null;
  readonly splits: number;
  readonly trials: number;
  /**
   * Number of periods used: a multiple of the number of blocks; the excess is dropped at the start.
   */
  readonly periods: number;
}

/** Contribution of a block of a trial's returns to a Sharpe ratio. */
interface Block {
  readonly sum: number;
  readonly squares: number;
}

/**
 * @param returns one row of returns per trial, of equal length and over the same periods
 * @param blocks an even number of time blocks, 2 … 16 [16]; each half of them is one split
 * @throws MetricsError on fewer than two trials, unequal lengths, or fewer than 2 periods per block
 */
export function overfitting(returns: readonly (readonly number[])[], blocks = 16): Overfitting {
  const length = checkTrials(returns, blocks);
  const size = Math.floor(length / blocks);
  const offset = length - size * blocks;
  const table = returns.map((row) =>
    Array.from({ length: blocks }, (_, block) => blockOf(row, offset + block * size, size)),
  );
  const logits: number[] = [];
  const inside: number[] = [];
  const outside: number[] = [];
  for (const half of halves(blocks)) {
    const chosen = table.map((row) => blockSharpe(row, size, (block) => half[block] === true));
    const other = table.map((row) => blockSharpe(row, size, (block) => half[block] !== true));
    const [, highest] = extremes(chosen);
    const best = chosen.indexOf(highest ?? 0);
    const rank = relativeRank(other, other[best] ?? 0);
    logits.push(ln(rank / (1 - rank)));
    inside.push(chosen[best] ?? 0);
    outside.push(other[best] ?? 0);
  }
  const share = (values: readonly number[], holds: (value: number) => boolean): number =>
    values.filter(holds).length / values.length;
  return {
    probability: share(logits, (logit) => logit <= 0),
    lossProbability: share(outside, (ratio) => ratio < 0),
    medianLogit: quantile(logits, 0.5) ?? 0,
    degradation: slope(inside, outside),
    splits: logits.length,
    trials: returns.length,
    periods: size * blocks,
  };
}

function checkTrials(returns: readonly (readonly number[])[], blocks: number): number {
  if (!Number.isInteger(blocks) || blocks < 2 || blocks > 16 || blocks % 2 !== 0) {
    throw new MetricsError(`blocks is ${blocks}; it is an even number from 2 to 16`);
  }
  mustBeList('returns', returns);
  if (returns.length < 2) {
    throw new MetricsError(`${returns.length} trials; overfitting is measured over at least 2`);
  }
  const length = returns[0]?.length ?? 0;
  returns.forEach((row, trial) => {
    mustBeReturns(`trial ${trial + 1}`, row);
    if (row.length !== length) {
      throw new MetricsError(`trial ${trial + 1} has ${row.length} periods, the first ${length}`);
    }
  });
  if (length < blocks * 2) {
    throw new MetricsError(`${length} periods; ${blocks} blocks need at least ${blocks * 2}`);
  }
  return length;
}

function blockOf(row: readonly number[], from: number, size: number): Block {
  let sum = 0;
  let squares = 0;
  for (let i = from; i < from + size; i++) {
    const value = row[i] ?? 0;
    sum += value;
    squares += value * value;
  }
  return { sum, squares };
}

/** All choices of half of the blocks, as flags. */
function* halves(blocks: number): Generator<readonly boolean[]> {
  for (let mask = 0; mask < 1 << blocks; mask++) {
    const flags = Array.from({ length: blocks }, (_, block) => ((mask >> block) & 1) === 1);
    if (flags.filter(Boolean).length === blocks / 2) yield flags;
  }
}

/** Of the variance of equal returns, a difference of sums, as a share of their squared mean. */
const ROUNDING = 1e-12;

/** Mean ÷ deviation over some blocks; 0 if returns do not vary. */
function blockSharpe(
  row: readonly Block[],
  size: number,
  counts: (block: number) => boolean,
): number {
  let sum = 0;
  let squares = 0;
  let periods = 0;
  row.forEach((block, index) => {
    if (!counts(index)) return;
    sum += block.sum;
    squares += block.squares;
    periods += size;
  });
  const average = sum / periods;
  const variance = squares / periods - average * average;
  return variance > average * average * ROUNDING && variance > 0
    ? average / Math.sqrt(variance)
    : 0;
}

/** Rank of a value, ties averaged, ÷ (n + 1): within (0, 1). */
function relativeRank(values: readonly number[], value: number): number {
  const below = values.filter((other) => other < value).length;
  const equal = values.filter((other) => other === value).length;
  return (below + (equal + 1) / 2) / (values.length + 1);
}

function slope(xs: readonly number[], ys: readonly number[]): number | null {
  const meanX = mean(xs) ?? 0;
  const meanY = mean(ys) ?? 0;
  const variance = centralMoment(xs, 2) ?? 0;
  if (variance === 0) return null;
  const covariance =
    xs.reduce((total, x, i) => total + (x - meanX) * ((ys[i] ?? 0) - meanY), 0) / xs.length;
  return covariance / variance;
}
