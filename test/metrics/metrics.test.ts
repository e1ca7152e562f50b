/**
 * Metrics equal those of numpy, scipy and pandas (reference/make.py) to 1e-9, and published values.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bootstrap } from '../../src/metrics/bootstrap.ts';
import { drawdowns } from '../../src/metrics/drawdowns.ts';
import {
  metricsOf,
  RETURN_METRICS,
  TRADE_METRICS,
  type Metrics,
} from '../../src/metrics/metrics.ts';
import { METRICS_DEFAULTS, type MetricsOptions } from '../../src/metrics/options.ts';
import { overfitting } from '../../src/metrics/overfitting.ts';
import { expectedBestSharpe, probabilisticSharpe } from '../../src/metrics/ratios.ts';
import { sum } from '../../src/metrics/sample.ts';
import { exposure, tradeMetrics } from '../../src/metrics/closed-trades.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';

interface Reference {
  readonly daily: number[];
  readonly hourly: number[];
  readonly pnl: number[];
  readonly returnsByTrial: number[][];
  readonly curves: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly trades: Readonly<Record<string, number>>;
  readonly pbo: Readonly<Record<string, number>>;
}

const REFERENCE = JSON.parse(
  readFileSync(new URL('reference/values.json', import.meta.url), 'utf8'),
) as Reference;
const DAY_US = 86_400e6;
const START_US = Date.UTC(2022, 0, 1) * 1000;

const curveOf = (
  equity: readonly number[],
  spacingUs = DAY_US,
): { timesUs: number[]; equity: readonly number[] } => ({
  timesUs: equity.map((_, i) => START_US + i * spacingUs),
  equity,
});

const near = (actual: number | null | undefined, wanted: number, name: string): void => {
  expect(actual, name).not.toBeNull();
  expect(
    Math.abs((actual ?? NaN) - wanted),
    `${name}: ${actual} for ${wanted}`,
  ).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(wanted)));
};

describe('curves', () => {
  const cases: [string, Partial<MetricsOptions>, number[], number][] = [
    ['daily', {}, REFERENCE.daily, DAY_US],
    [
      'daily252',
      {
        annualisation: 252,
        denominator: 'population',
        riskFree: 0.04,
        target: 0.02,
        downside: 'below',
        level: 0.99,
      },
      REFERENCE.daily,
      DAY_US,
    ],
    ['dailyLog', { returns: 'log' }, REFERENCE.daily, DAY_US],
    ['hourly', { riskFree: 0.03 }, REFERENCE.hourly, DAY_US / 24],
  ];
  const variants: Readonly<Record<string, [Partial<MetricsOptions>, keyof Metrics]>> = {
    normalValueAtRisk: [{ valueAtRisk: 'normal' }, 'valueAtRisk'],
    normalConditionalValueAtRisk: [{ valueAtRisk: 'normal' }, 'conditionalValueAtRisk'],
    sampleSkewness: [{ moments: 'sample' }, 'skewness'],
    sampleKurtosis: [{ moments: 'sample' }, 'kurtosis'],
  };
  it.each(cases)('%s: every figure', (name, given, equity, spacingUs) => {
    const wanted = REFERENCE.curves[name] ?? {};
    expect(Object.keys(wanted)).toHaveLength(25);
    for (const [figure, value] of Object.entries(wanted)) {
      const [extra, field] = variants[figure] ?? [{}, figure as keyof Metrics];
      const metrics = metricsOf(
        curveOf(equity, spacingUs),
        null,
        { ...METRICS_DEFAULTS, ...given, ...extra },
        { count: 40, sharpeVariance: 0.002 },
      );
      near(metrics[field] as number | null, value, `${name}.${figure}`);
    }
  });

  it('raw kurtosis is 3 more than excess', () => {
    const of = (kurtosis: 'raw' | 'excess'): number =>
      metricsOf(curveOf(REFERENCE.daily), null, { ...METRICS_DEFAULTS, kurtosis }).kurtosis ?? 0;
    near(of('raw') - of('excess'), 3, 'difference');
  });

  it('a daily cut of an hourly curve takes each day’s last row, aligned to UTC', () => {
    const hours = Array.from({ length: 72 }, (_, i) => 100 + i);
    const metrics = metricsOf(curveOf(hours, DAY_US / 24), null, {
      ...METRICS_DEFAULTS,
      period: DAY_US,
    });
    expect(metrics.periods).toBe(3);
    near(metrics.bestPeriod, 24 / 100, 'first day');
    near(metrics.worstPeriod, 23 / 148, 'last day');
    near(metrics.periodsPerYear, 365, 'periods a year');
  });

  it('the median spacing of a daily curve without weekends is a day', () => {
    const rows = REFERENCE.daily.map((value, i) => [START_US + i * DAY_US, value] as const);
    const weekdays = rows.filter(([us]) => ![0, 6].includes(new Date(us / 1000).getUTCDay()));
    const metrics = metricsOf(
      { timesUs: weekdays.map(([us]) => us), equity: weekdays.map(([, value]) => value) },
      null,
      { ...METRICS_DEFAULTS, annualisation: 252 },
    );
    expect(metrics.periodsPerYear).toBe(252);
  });
});

describe('undefined statistics of a sample are null', () => {
  const flat = metricsOf(curveOf([100, 100, 100, 100]), [], METRICS_DEFAULTS);
  it.each([
    'sharpe',
    'probabilisticSharpe',
    'sortino',
    'calmar',
    'omega',
    'skewness',
    'kurtosis',
    'tailRatio',
    'kellyContinuous',
  ] as const)('%s of a flat curve', (figure) => {
    expect(flat[figure]).toBeNull();
  });
  it('a constant return has no Sharpe ratio, despite rounding errors', () => {
    const steady = curveOf(Array.from({ length: 50 }, (_, i) => 1000 * 1.001 ** i));
    expect(metricsOf(steady, null, METRICS_DEFAULTS).sharpe).toBeNull();
  });
  it('an account that loses everything ends with that loss, and a CAGR of −1', () => {
    const ruined = metricsOf(curveOf([100, 120, 0, 0]), null, METRICS_DEFAULTS);
    expect(ruined.worstPeriod).toBe(-1);
    expect(ruined.maxDrawdown).toBe(1);
    expect(ruined.cagr).toBe(-1);
  });
  it('no trades', () => {
    expect(flat.trades).toMatchObject({ trades: 0, winRate: null, sqn: null, kelly: null });
  });
});

describe('trades', () => {
  const rows = REFERENCE.pnl.map((pnl) => ({ pnl, entryUs: null, exitUs: null, notional: null }));
  it('every figure', () => {
    const figures = tradeMetrics(rows, METRICS_DEFAULTS);
    for (const [name, value] of Object.entries(REFERENCE.trades)) {
      near(figures[name as keyof typeof figures], value, name);
    }
  });
  it('trades of 0 can be excluded from the win rate, and SQN is capped at 100 trades', () => {
    const all = tradeMetrics(rows, METRICS_DEFAULTS);
    const other = tradeMetrics(rows, { ...METRICS_DEFAULTS, breakEven: 'exclude', sqn: 'cap100' });
    near(other.winRate, all.wins / (all.trades - 2), 'win rate');
    near((other.sqn ?? 0) / (all.sqn ?? 1), Math.sqrt(100 / 160), 'SQN');
  });
  it('exposure counts overlapping trades once', () => {
    const trade = (entryUs: number, exitUs: number) => ({ pnl: 1, entryUs, exitUs, notional: 1 });
    expect(exposure([trade(10, 40), trade(20, 50), trade(70, 80)], 0, 100)).toBe(0.5);
  });
  it('turnover is traded notional over mean equity', () => {
    const metrics = metricsOf(
      curveOf([100, 300]),
      [{ pnl: 1, entryUs: START_US, exitUs: START_US + DAY_US / 4, notional: 600 }],
      METRICS_DEFAULTS,
    );
    expect([metrics.turnover, metrics.exposure]).toEqual([3, 0.25]);
    near(metrics.turnoverPerYear, 3 * 365, 'a year');
  });
});

describe('drawdowns', () => {
  it('each has its peak, trough and recovery; the last may lack a recovery', () => {
    const day = (i: number): number => START_US + i * DAY_US;
    expect(drawdowns(curveOf([100, 80, 90, 100, 120, 60, 90]))).toEqual([
      { depth: 1 - 80 / 100, peakUs: day(0), troughUs: day(1), recoveredUs: day(3) },
      { depth: 0.5, peakUs: day(4), troughUs: day(5), recoveredUs: null },
    ]);
  });
});

describe('published examples', () => {
  it('probabilistic Sharpe ratio: 24 months at 0.458, skewness −2.448, kurtosis 10.164', () => {
    const shape = { periods: 24, skewness: -2.448, excessKurtosis: 7.164 };
    expect(probabilisticSharpe(0.458, 0, shape)).toBeCloseTo(0.913, 3);
    const normal = { periods: 24, skewness: 0, excessKurtosis: 0 };
    expect(probabilisticSharpe(0.458, 0, normal)).toBeCloseTo(0.982, 3);
  });
  it('deflated Sharpe ratio: best of 100 trials, 2.5 a year over 1,250 days', () => {
    const best = expectedBestSharpe(100, 0.5 / 250);
    expect(best).toBeCloseTo(0.1132, 4);
    const shape = { periods: 1250, skewness: -3, excessKurtosis: 7 };
    expect(probabilisticSharpe(2.5 / Math.sqrt(250), best, shape)).toBeCloseTo(0.9004, 4);
  });
});

describe('overfitting', () => {
  it('equals numpy on the same splits', () => {
    const found = overfitting(REFERENCE.returnsByTrial, 8);
    expect(found.splits).toBe(70);
    for (const [name, value] of Object.entries(REFERENCE.pbo)) {
      near(found[name as keyof typeof found], value, name);
    }
  });
  it('a trial that is better in all blocks is not overfitted', () => {
    const trials = REFERENCE.returnsByTrial.map((row, i) =>
      row.map((value) => value + (i === 3 ? 0.05 : 0)),
    );
    expect(overfitting(trials, 8)).toMatchObject({ probability: 0, lossProbability: 0 });
  });
  it.each([
    [[[1, 2]], 2, 'at least 2'],
    [[[1, 2, 3, 4], [1]], 2, 'trial 2 has 1 periods'],
    [[[1], [2]], 2, 'need at least 4'],
    [[[1], [2]], 3, 'even number'],
  ])('bad input %#', (trials, blocks, words) => {
    expect(() => overfitting(trials, blocks)).toThrow(words);
  });
});

describe('bootstrap', () => {
  const returns = REFERENCE.daily.slice(1).map((value, i) => value / REFERENCE.daily[i]! - 1);
  const options = { samples: 400, meanBlock: null, confidence: 0.9, periodsPerYear: 365 };
  const run = (): ReturnType<typeof bootstrap> =>
    bootstrap(returns, options, new RandomStreams('1').stream('bootstrap'));
  it('equal seeds give equal bands, around the estimate', () => {
    const bands = run();
    expect(run()).toEqual(bands);
    const total = REFERENCE.daily.at(-1)! / REFERENCE.daily[0]! - 1;
    expect(bands.totalReturn.low).toBeLessThan(total);
    expect(bands.totalReturn.high).toBeGreaterThan(total);
    expect(bands.meanBlock).toBe(9);
  });
  it('blocks preserve the order of neighbours', () => {
    const ladder = Array.from({ length: 1000 }, (_, i) => i * 1e-6);
    const one = bootstrap(
      ladder,
      { ...options, samples: 1, meanBlock: 1e9 },
      new RandomStreams('1').stream('x'),
    );
    expect(one.totalReturn.low).toBeCloseTo(
      ladder.reduce((total, value) => total * (1 + value), 1) - 1,
      12,
    );
  });
});

it('sums lose no precision', () => {
  expect(sum([1, 1e100, 1, -1e100])).toBe(2);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1e6, max: 1e6 })), (values) => {
      expect(sum(values)).toBe(values.reduce((total, value) => total + value, 0));
    }),
  );
});

// JSON has no infinity: a log of trials had kept it as null, so a resumed search had another best.
it('a year’s growth beyond the largest number is unknown, and so is its Calmar ratio', () => {
  // 1.5 % in two seconds, and a gain whose CAGR is a number and whose Calmar ratio is none.
  for (const last of [101.5, 100.0045]) {
    const { cagr, calmar } = metricsOf(curveOf([100, 99.999, last], 1e6));
    expect(calmar).toBeNull();
    expect(cagr ?? 1).toBeLessThan(Infinity);
  }
});

describe('bad curves', () => {
  it.each([
    [[START_US], [1], 'at least 2'],
    [[2, 1], [1, 1], 'row 2: time is not after'],
    [[1, 2], [1, NaN], 'row 2: equity is not a finite number'],
    [[1, 2], [0, 1], 'row 1: equity starts at or below 0'],
  ])('%#', (timesUs, equity, words) => {
    expect(() => metricsOf({ timesUs, equity }, null, METRICS_DEFAULTS)).toThrow(words);
  });
});

it('docs/METRICS.md names every metric of the tables', () => {
  const text = readFileSync(new URL('../../docs/METRICS.md', import.meta.url), 'utf8');
  const cells = [...text.matchAll(/^\| ([^|]+?) *\|/gm)].map(([, cell = '']) => cell);
  const named = new Set(cells.flatMap((cell) => cell.split(', ')));
  const names = [...RETURN_METRICS, ...TRADE_METRICS].flatMap(({ name }) => name ?? []);
  const parts: Readonly<Record<string, string>> = {
    '  probabilistic': 'probabilistic Sharpe',
    '  deflated': 'deflated Sharpe',
  };
  expect(names.filter((name) => !named.has(parts[name] ?? name.trim()))).toEqual([]);
});
