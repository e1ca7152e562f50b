/**
 * Tree-structured Parzen estimator (Bergstra et al. 2011): of random candidates, selects the one
 * with the highest ratio of density among good results to density among the others. Dimensions are
 * independent; ordered ones use Gaussian kernels over their indices, choices use smoothed counts.
 */
import { exp } from '../../num/special/exp.ts';
import { ln } from '../../num/special/ln.ts';
import type { RandomStream } from '../../virtual-time/rng.ts';
import { keyOf, type Dimension, type Point, type Space } from './space.ts';

interface Scored {
  readonly point: Point;
  readonly score: number;
}

const GOOD_SHARE = 0.1;
/** Max number of good results, which keeps them distinct from the rest in long searches. */
const MAX_GOOD = 25;
const CANDIDATES = 24;

/** A point not yet proposed; null if no candidate is new. */
export function proposeTpe(
  space: Space,
  observed: readonly Scored[],
  seen: ReadonlySet<string>,
  random: RandomStream,
): Point | null {
  const sorted = [...observed].sort((a, b) => b.score - a.score);
  const goodCount = Math.min(MAX_GOOD, Math.ceil(sorted.length * GOOD_SHARE));
  const densities = space.map((dimension, i) => ({
    good: new Density(dimension, indicesOf(sorted.slice(0, goodCount), i)),
    rest: new Density(dimension, indicesOf(sorted.slice(goodCount), i)),
  }));
  let best: Point | null = null;
  let bestGain = -Infinity;
  for (let candidate = 0; candidate < CANDIDATES; candidate++) {
    const point = densities.map(({ good }) => good.draw(random));
    if (seen.has(keyOf(point))) continue;
    const gain = densities.reduce(
      (sum, { good, rest }, i) => sum + ln(good.of(point[i] ?? 0)) - ln(rest.of(point[i] ?? 0)),
      0,
    );
    if (gain > bestGain) {
      bestGain = gain;
      best = point;
    }
  }
  return best;
}

function indicesOf(scored: readonly Scored[], dimension: number): number[] {
  return scored.map(({ point }) => point[dimension] ?? 0);
}

/** Density of the results over the indices of a dimension; positive everywhere. */
class Density {
  private readonly weights: Float64Array;
  private readonly total: number;

  constructor({ values, ordered }: Dimension, indices: readonly number[]) {
    // A uniform prior with the weight of one observation keeps every index reachable.
    this.weights = new Float64Array(values.length).fill(1 / values.length);
    const width = ordered ? kernelWidth(values.length, indices.length) : 0;
    for (const index of indices) {
      if (width === 0) this.weights[index] = (this.weights[index] ?? 0) + 1;
      else this.addKernel(index, width);
    }
    this.total = this.weights.reduce((sum, weight) => sum + weight, 0);
  }

  /** Adds a Gaussian around an index, with total weight 1 within the list. */
  private addKernel(centre: number, width: number): void {
    const kernel = this.weights.map((_, i) => {
      const distance = (i - centre) / width;
      return exp((-distance * distance) / 2);
    });
    const mass = kernel.reduce((sum, weight) => sum + weight, 0);
    kernel.forEach((weight, i) => {
      this.weights[i] = (this.weights[i] ?? 0) + weight / mass;
    });
  }

  of(index: number): number {
    return (this.weights[index] ?? 0) / this.total;
  }

  draw(random: RandomStream): number {
    let rest = random.next() * this.total;
    for (let i = 0; i < this.weights.length; i++) {
      rest -= this.weights[i] ?? 0;
      if (rest < 0) return i;
    }
    return this.weights.length - 1;
  }
}

/**
 * Kernel width: a fifth of the list divided by the square root of the number of observations, at
 * least half a step.
 */
function kernelWidth(count: number, observations: number): number {
  return Math.max(0.5, count / 5 / Math.sqrt(Math.max(1, observations)));
}
