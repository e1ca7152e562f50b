/** Indicator packages of npm in a strategy file, as they are. */
import { fileURLToPath } from 'node:url';
import { backtest } from 'orrery/backtest';
import type { BarUpdate } from 'orrery/strategy';
import { expect, test } from 'vitest';
import { DATASET } from '../run-plan/plans.ts';
import packages from './indicators/three-packages.ts';

const FILE = fileURLToPath(new URL('indicators/three-packages.ts', import.meta.url));

/** Mean and population deviation of the last values. */
function bandOf(closes: readonly number[], period: number): { mean: number; upper: number } {
  const last = closes.slice(-period);
  const mean = last.reduce((sum, close) => sum + close, 0) / period;
  const variance = last.reduce((sum, close) => sum + (close - mean) ** 2, 0) / period;
  return { mean, upper: mean + 2 * Math.sqrt(variance) };
}

test('three packages are bundled, run in the sandbox, and agree with their formulas', async () => {
  const options = { data: DATASET, to: '2024-08-08T23:56:00Z', id: 'packages' };
  const ofFile = await backtest({ strategy: FILE, ...options });
  const ofObject = await backtest({ strategy: packages, ...options });
  expect(ofFile.chainHash).toBe(ofObject.chainHash);
  const [{ plots, fills }] = ofFile.strategies;
  expect(fills.length).toBeGreaterThan(0);
  const values = (name: string): readonly (number | null)[] =>
    plots.find((plot) => plot.name === name)?.values ?? [];
  const pairs = values('sma').map((value, i) => [value, values('sma of the other package')[i]]);
  expect(pairs.length).toBeGreaterThan(60);
  for (const [one, other] of pairs.slice(5)) expect(other).toBeCloseTo(one ?? NaN, 6);
  for (const value of values('rsi').slice(20)) {
    expect(value).toBeGreaterThanOrEqual(0);
    expect(value).toBeLessThanOrEqual(100);
  }
  const closes: number[] = [];
  const bands: number[] = [];
  await backtest({
    ...options,
    strategy: {
      ...packages,
      create: () => ({
        onBar: (bar: BarUpdate) => {
          closes.push(bar.close);
          bands.push(bandOf(closes, 20).upper);
        },
      }),
    },
  });
  const upper = values('upper');
  expect(upper.length).toBe(bands.length);
  for (let i = 39; i < upper.length; i++) expect(upper[i]).toBeCloseTo(bands[i] ?? NaN, 4);
});
