/**
 * Fundamental value of a market's asset, independent of its trading: an Ornstein–Uhlenbeck process
 * with a fixed time step,
 *
 * x ← x + θ (μ − x) + σ x N,
 *
 * where θ is the fraction of the distance to the mean per step, σ the relative deviation per step
 * and N a draw of mean 0 and variance 1. N is the sum of twelve uniform draws minus six
 * (Irwin–Hall): the arithmetic is identical on all platforms; the tails end at six deviations.
 */
import type { RandomStream } from '../virtual-time/rng.ts';

export interface OrnsteinUhlenbeck {
  readonly start: number;
  readonly mean: number;
  /** Fraction of the distance to the mean per step, 0…1. */
  readonly reversion: number;
  /** Relative standard deviation of a step. */
  readonly deviation: number;
}

/** Value of each step, starting with the start value; at least a hundredth of the mean. */
export function* ornsteinUhlenbeck(
  { start, mean, reversion, deviation }: OrnsteinUhlenbeck,
  random: RandomStream,
): Generator<number, never> {
  let value = start;
  for (;;) {
    yield value;
    value += reversion * (mean - value) + deviation * value * normal(random);
    value = Math.max(mean / 100, value);
  }
}

/** Mean 0, variance 1, within ±6. */
export function normal(random: RandomStream): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += random.next();
  return sum;
}
