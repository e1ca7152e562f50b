/**
 * Confidence bands by the stationary block bootstrap (Politis and Romano 1994): consecutive blocks
 * of returns of geometric length, drawn from the circular series. Blocks preserve volatility
 * clustering, which single draws destroy.
 */
import type { RandomStream } from '../virtual-time/rng.ts';
import { compounded, MetricsError, mustBeReturns } from './curve.ts';
import { underwater } from './drawdowns.ts';
import { sharpe } from './ratios.ts';
import { extremes, quantile } from './sample.ts';

/** Quantiles over the resampled curves. */
export interface Band {
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

export interface BootstrapBands {
  readonly totalReturn: Band;
  /** Annualised; null if no resampled curve varies. */
  readonly sharpe: Band | null;
  readonly maxDrawdown: Band;
  /** Fraction of the curves with a loss. */
  readonly lossProbability: number;
  readonly samples: number;
  readonly meanBlock: number;
}

export interface BootstrapOptions {
  readonly samples: number;
  /** Mean block length in periods; null uses n^(1/3), at least 1. */
  readonly meanBlock: number | null;
  /** Fraction of the curves between low and high, 0 … 1. */
  readonly confidence: number;
  readonly periodsPerYear: number;
}

const MAX_SAMPLES = 1_000_000;

function checkBootstrap(returns: readonly number[], options: BootstrapOptions): void {
  mustBeReturns('returns', returns);
  if (returns.length === 0) throw new MetricsError('returns: must have at least one');
  const { samples, meanBlock, confidence, periodsPerYear } = Object(options) as BootstrapOptions;
  const refuse = (name: string, value: unknown, mustBe: string): never => {
    throw new MetricsError(`${name} '${String(value)}': must be ${mustBe}`);
  };
  if (!Number.isInteger(samples) || samples < 1 || samples > MAX_SAMPLES) {
    refuse('samples', samples, `a whole number from 1 to ${MAX_SAMPLES}`);
  }
  if (meanBlock !== null && !(Number.isFinite(meanBlock) && meanBlock >= 1)) {
    refuse('meanBlock', meanBlock, 'null or a number of periods, at least 1');
  }
  if (!(confidence >= 0 && confidence <= 1)) refuse('confidence', confidence, 'from 0 to 1');
  if (!(Number.isFinite(periodsPerYear) && periodsPerYear > 0)) {
    refuse('periodsPerYear', periodsPerYear, 'a finite number above 0');
  }
}

/** @param returns simple returns of consecutive periods, at least one */
export function bootstrap(
  returns: readonly number[],
  options: BootstrapOptions,
  random: RandomStream,
): BootstrapBands {
  checkBootstrap(returns, options);
  const meanBlock = options.meanBlock ?? cubeRoot(returns.length);
  const totals: number[] = [];
  const ratios: number[] = [];
  const falls: number[] = [];
  for (let sample = 0; sample < options.samples; sample++) {
    const drawn = resample(returns, meanBlock, random);
    const equity = compounded(drawn);
    totals.push((equity.at(-1) ?? 1) - 1);
    falls.push(extremes(underwater(equity))[1] ?? 0);
    const ratio = sharpe(drawn, 0, 'sample');
    if (ratio !== null) ratios.push(ratio * Math.sqrt(options.periodsPerYear));
  }
  const band = (values: readonly number[]): Band => ({
    low: quantile(values, (1 - options.confidence) / 2) ?? 0,
    median: quantile(values, 0.5) ?? 0,
    high: quantile(values, (1 + options.confidence) / 2) ?? 0,
  });
  return {
    totalReturn: band(totals),
    sharpe: ratios.length === 0 ? null : band(ratios),
    maxDrawdown: band(falls),
    lossProbability: totals.filter((total) => total < 0).length / totals.length,
    samples: options.samples,
    meanBlock,
  };
}

/**
 * Resamples as many returns as there are. A block ends at each step with probability 1 ÷ mean
 * length.
 */
function resample(
  returns: readonly number[],
  meanBlock: number,
  random: RandomStream,
): readonly number[] {
  const n = returns.length;
  let at = random.below(n);
  return returns.map((_, i) => {
    if (i > 0) at = random.next() * meanBlock < 1 ? random.below(n) : (at + 1) % n;
    return returns[at] ?? 0;
  });
}

/** Integer cube root, at least 1. */
function cubeRoot(n: number): number {
  let root = 1;
  while ((root + 1) * (root + 1) * (root + 1) <= n) root += 1;
  return root;
}
