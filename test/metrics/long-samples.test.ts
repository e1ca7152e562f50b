/** Samples that are longer than the most arguments that a function can have. */
import { expect, test } from 'vitest';
import { furtherMetrics } from '../../src/metrics/further.ts';
import { metricsOf } from '../../src/metrics/metrics.ts';
import { overfitting } from '../../src/metrics/overfitting.ts';
import { selectionOf } from '../../src/search/sweep.ts';
import type { Trial } from '../../src/search/trial-log.ts';
import { closedInHoles } from '../../src/tape/bar-holes.ts';
import type { TapeStep } from '../../src/tape/book-sync.ts';

const MANY = 130_000;

test('a curve with more drawdowns', () => {
  // Each second sample is a new high.
  const equity = Array.from({ length: 2 * MANY }, (_, i) => 1000 + i - (i % 2) * 3);
  const curve = { timesUs: equity.map((_, i) => i * 1_000_000), equity };
  const { drawdowns, maxDrawdown, maxDrawdownUs } = metricsOf(curve);
  expect(drawdowns).toHaveLength(MANY);
  expect(maxDrawdown).toBeCloseTo(1 - 998 / 1000, 12);
  // The last one does not end.
  expect(maxDrawdownUs).toBe(2_000_000);
  expect(furtherMetrics(curve).recoveryFactor).toBeGreaterThan(1e5);
});

test('a search with more trials', () => {
  const returns = Array.from({ length: MANY }, (_, i) => [1e-9 * i, -1, 1, 1e-9 * i]);
  expect(overfitting(returns, 2)).toMatchObject({ trials: MANY, periods: 4, splits: 2 });
  const trials = returns.map((row): Trial => ({
    number: 0,
    point: [],
    budget: 1,
    score: 0,
    error: null,
    figures: null,
    returns: row,
  }));
  expect(selectionOf(trials, 365).trials.count).toBe(MANY);
});

test('more steps between two bars', async () => {
  const at = (timeUs: number, kind: 'bar' | 'mark'): TapeStep =>
    ({
      record: { kind, timeUs, startUs: timeUs - 99, localUs: timeUs },
      command: { kind: kind === 'bar' ? 'tapeBar' : 'tapeMark', timeUs, market: 0 },
      inSync: true,
    }) as unknown as TapeStep;
  // The book stands for one more bar; steps after that wait for the next bar.
  const steps = [
    at(99, 'bar'),
    ...Array.from({ length: MANY }, () => at(250, 'mark')),
    at(298, 'bar'),
  ];
  async function* batches(): AsyncGenerator<TapeStep[]> {
    yield await Promise.resolve(steps);
  }
  let count = 0;
  for await (const batch of closedInHoles(batches(), 298)) count += batch.length;
  expect(count).toBe(MANY + 2);
});
