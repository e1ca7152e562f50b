/** Further and relative figures equal those of numpy, scipy and pandas (reference/further.py). */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { EquityCurve } from '../../src/metrics/curve.ts';
import { furtherMetrics } from '../../src/metrics/further.ts';
import type { MetricsOptions } from '../../src/metrics/options.ts';
import { relativeMetrics } from '../../src/metrics/relative.ts';

type Figures = Readonly<Record<string, number>>;
const REFERENCE = JSON.parse(
  readFileSync(new URL('reference/further.json', import.meta.url), 'utf8'),
) as {
  own: number[];
  market: number[];
  further: Record<'plain' | 'rates', Figures>;
  relative: Record<'plain' | 'rates', Figures>;
};
const DAY_US = 86_400e6;
const START_US = Date.UTC(2022, 0, 1) * 1000;
const curveOf = (equity: readonly number[], fromUs = START_US): EquityCurve => ({
  timesUs: equity.map((_, i) => fromUs + i * DAY_US),
  equity,
});
const OPTIONS: Record<'plain' | 'rates', Partial<MetricsOptions>> = {
  plain: {},
  rates: { annualisation: 252, riskFree: 0.03, target: 0.05 },
};

const same = (actual: object, wanted: Figures): void => {
  expect(Object.keys(actual).sort()).toEqual(Object.keys(wanted).sort());
  for (const [name, value] of Object.entries(actual)) {
    const expected = wanted[name] ?? NaN;
    expect(Math.abs(Number(value) - expected), name).toBeLessThanOrEqual(
      1e-9 * Math.max(1, Math.abs(expected)),
    );
  }
};

test.each(['plain', 'rates'] as const)('figures with %s options are those of pandas', (name) => {
  same(furtherMetrics(curveOf(REFERENCE.own), OPTIONS[name]), REFERENCE.further[name]);
  const relative = relativeMetrics(
    curveOf(REFERENCE.own),
    curveOf(REFERENCE.market),
    OPTIONS[name],
  );
  same(relative, REFERENCE.relative[name]);
});

test('growth and captures do not depend on whether returns are logarithmic', () => {
  const [own, market] = [curveOf(REFERENCE.own), curveOf(REFERENCE.market)];
  const { meanReturn, stability } = furtherMetrics(own);
  const { upCapture, downCapture } = relativeMetrics(own, market);
  expect(furtherMetrics(own, { returns: 'log' })).toMatchObject({ meanReturn, stability });
  expect(relativeMetrics(own, market, { returns: 'log' })).toMatchObject({
    upCapture,
    downCapture,
  });
});

test('a curve against itself has a beta of 1, no alpha and no tracking error', () => {
  const own = curveOf(REFERENCE.own);
  const figures = relativeMetrics(own, own);
  expect(figures.beta).toBeCloseTo(1, 12);
  expect(figures.alpha).toBeCloseTo(0, 12);
  expect(figures).toMatchObject({ trackingError: 0, informationRatio: null, battingAverage: 0 });
  expect(figures.upCapture).toBeCloseTo(1, 12);
});

test('returns are paired by their times, and periods of one curve alone are left out', () => {
  const late = curveOf(REFERENCE.market.slice(100), START_US + 100 * DAY_US);
  const figures = relativeMetrics(curveOf(REFERENCE.own), late);
  const cut = relativeMetrics(
    curveOf(REFERENCE.own.slice(100)),
    curveOf(REFERENCE.market.slice(100)),
  );
  expect(figures.periods).toBe(300);
  expect(figures.beta).toBeCloseTo(cut.beta ?? NaN, 12);
  const apart = relativeMetrics(curveOf([1, 2]), curveOf([1, 2], START_US + 5 * DAY_US));
  expect(apart).toMatchObject({ periods: 0, beta: null, alpha: null, battingAverage: null });
});

test.each([
  ['a flat curve', [100, 100, 100, 100]],
  ['a curve of two points', [100, 101]],
  ['a curve that only gains', [100, 101, 103, 104]],
  ['a wiped-out curve', [100, 50, 0, 0]],
  ['huge numbers', [1e300, 1.1e300, 0.9e300, 1e300]],
])('no figure of %s is infinite or not a number', (_, equity) => {
  const all = {
    ...furtherMetrics(curveOf(equity)),
    ...relativeMetrics(curveOf(equity), curveOf([5, 6, 4, 7].slice(0, equity.length))),
    ...relativeMetrics(curveOf([5, 6, 4, 7].slice(0, equity.length)), curveOf(equity)),
  };
  for (const [name, value] of Object.entries(all)) {
    expect(value === null || Number.isFinite(value), `${name} ${String(value)}`).toBe(true);
  }
});
