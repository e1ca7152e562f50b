/**
 * Figures of selection among trials equal numpy and scipy (reference/selection.py) to 1e-9, and a
 * second computation of the probability of overfitting from the returns themselves.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { overfitting } from '../../src/metrics/overfitting.ts';
import { expectedBestSharpe, probabilisticSharpe } from '../../src/metrics/ratios.ts';

interface Deflated {
  readonly trials: number;
  readonly variance: number;
  readonly sharpe: number;
  readonly periods: number;
  readonly skewness: number;
  readonly kurtosis: number;
  readonly best: number;
  readonly integrated: number | null;
  readonly probability: number;
  readonly undeflated: number;
}

interface Overfitted extends Omit<ReturnType<typeof overfitting>, 'degradation'> {
  readonly degradation: number;
  readonly returns: readonly (readonly number[])[];
  readonly blocks: number;
}

const REFERENCE = JSON.parse(
  readFileSync(new URL('reference/selection.json', import.meta.url), 'utf8'),
) as { readonly deflated: Deflated[]; readonly overfitting: Overfitted[] };

const near = (actual: number | null, wanted: number): void => {
  const distance = Math.abs((actual ?? NaN) - wanted) / Math.max(1, Math.abs(wanted));
  expect(distance, `${String(actual)} for ${String(wanted)}`).toBeLessThanOrEqual(1e-9);
};

test.each(REFERENCE.deflated)('best of $trials trials with variance $variance', (one) => {
  const { trials, variance, sharpe, periods, skewness, kurtosis } = one;
  const shape = { periods, skewness, excessKurtosis: kurtosis - 3 };
  const best = expectedBestSharpe(trials, variance);
  near(best, one.best);
  near(probabilisticSharpe(sharpe, best, shape), one.probability);
  near(probabilisticSharpe(sharpe, 0, shape), one.undeflated);
  // The formula approximates the expected maximum of normal variables.
  if (one.integrated !== null) expect(Math.abs(best / one.integrated - 1)).toBeLessThan(0.08);
});

test('the examples of the paper', () => {
  const [example, fewer, normal] = REFERENCE.deflated.map(({ probability }) => probability);
  expect(example).toBeCloseTo(0.9004, 4);
  expect(fewer).toBeCloseTo(0.9505, 4);
  expect(normal).toBeCloseTo(0.9505, 4);
});

test.each(REFERENCE.overfitting)('$trials trials in $blocks blocks', (one) => {
  const { returns, blocks, splits, trials, periods } = one;
  const found = overfitting(returns, blocks);
  // 12,870 splits take seconds this way.
  const plain = blocks < 16 ? plainOverfitting(returns, blocks) : found;
  expect(found).toMatchObject({ splits, trials, periods });
  for (const name of ['probability', 'lossProbability', 'medianLogit', 'degradation'] as const) {
    near(found[name], one[name]);
    near(plain[name], one[name]);
  }
});

/** Combinatorially symmetric cross-validation, split by split, from the joined returns. */
function plainOverfitting(
  returns: readonly (readonly number[])[],
  blocks: number,
): Pick<Overfitted, 'probability' | 'lossProbability' | 'medianLogit' | 'degradation'> {
  const size = Math.floor((returns[0]?.length ?? 0) / blocks);
  const parts = returns.map((row) => {
    const used = row.slice(row.length - size * blocks);
    return Array.from({ length: blocks }, (_, i) => used.slice(i * size, (i + 1) * size));
  });
  const ratio = (values: readonly number[]): number => {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    return squares === 0 ? 0 : mean / Math.sqrt(squares / values.length);
  };
  const logits: number[] = [];
  const pairs: [number, number][] = [];
  for (const chosen of combinations(blocks, blocks / 2)) {
    const ratios = (isInside: boolean): number[] =>
      parts.map((row) => ratio(row.filter((_, i) => chosen.has(i) === isInside).flat()));
    const [inside, outside] = [ratios(true), ratios(false)];
    // Equal trials differ by rounding here.
    const top = Math.max(...inside);
    const best = inside.findIndex((value) => value > top - 1e-12);
    const own = outside[best] ?? 0;
    const below = outside.filter((value) => value < own - 1e-12).length;
    const equal = outside.filter((value) => Math.abs(value - own) <= 1e-12).length;
    const rank = (below + (equal + 1) / 2) / (returns.length + 1);
    logits.push(Math.log(rank / (1 - rank)));
    pairs.push([inside[best] ?? 0, own]);
  }
  const sorted = [...logits].sort((a, b) => a - b);
  const middle = [Math.floor((sorted.length - 1) / 2), Math.ceil((sorted.length - 1) / 2)];
  // Slope by the normal equations.
  const sums = { x: 0, y: 0, xx: 0, xy: 0 };
  for (const [x, y] of pairs) {
    sums.x += x;
    sums.y += y;
    sums.xx += x * x;
    sums.xy += x * y;
  }
  const n = pairs.length;
  return {
    probability: logits.filter((logit) => logit <= 0).length / n,
    lossProbability: pairs.filter(([, outside]) => outside < 0).length / n,
    medianLogit: middle.reduce((sum, i) => sum + (sorted[i] ?? 0), 0) / 2,
    degradation: (n * sums.xy - sums.x * sums.y) / (n * sums.xx - sums.x * sums.x),
  };
}

/** Every choice of `take` of the numbers below `from`. */
function combinations(from: number, take: number, first = 0): Set<number>[] {
  if (take === 0) return [new Set()];
  return Array.from({ length: from - first }, (_, i) => first + i).flatMap((number) =>
    combinations(from, take - 1, number + 1).map((rest) => new Set([number, ...rest])),
  );
}

test('a trial whose returns do not vary has a ratio of 0, whatever they are', () => {
  const varied = Array.from({ length: 320 }, (_, i) => Math.sin(i * 7) + 0.3);
  const steady = overfitting([varied.map(() => 0.0001), varied], 8);
  expect(steady).toEqual(overfitting([varied.map(() => 0), varied], 8));
});
