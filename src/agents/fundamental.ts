/**
 * What a market's asset is worth, apart from its trading: an Ornstein–Uhlenbeck process in steps of a fixed time,
 *
 *   x ← x + θ (μ − x) + σ x N,
 *
 * θ the part of the way back to the mean in a step, σ the relative deviation of a step, N a draw of mean 0 and variance 1. N is the sum
 * of twelve uniform draws less six (Irwin–Hall): arithmetic that is the same everywhere, with tails that end at six deviations.
 */
import type { RandomStream } from '../virtual-time/rng.ts';

export interface OrnsteinUhlenbeck {
  readonly start: number;
  readonly mean: number;
  /** Part of the distance to the mean that a step takes back, 0…1. */
  readonly reversion: number;
  /** Relative standard deviation of a step. */
  readonly deviation: number;
}

/** Draws the value of each step, the start first; never below a hundredth of the mean. */
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
