/** `walkForward` and candles of a program, as users of `orrery/backtest` call them. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  backtest,
  defineStrategy,
  openDataset,
  sweep,
  walkForward,
  writeCandles,
} from 'orrery/backtest';
import type { BacktestResult, Candle, WalkForwardOptions } from 'orrery/backtest';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import grid from '../../examples/strategies/grid.ts';
import cross from '../../examples/strategies/sma-cross.ts';
import { DATASET, example } from '../run-plan/plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-walk-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const LENGTHS = { train: '45s', test: '30s', to: '2024-08-08T23:56:05Z' };
const VARY = { stepBp: [2, 4] };
const walk = (options: Partial<WalkForwardOptions> = {}) =>
  walkForward({
    ...{ strategy: grid, data: DATASET, method: 'grid', vary: VARY, objective: 'totalReturn' },
    ...LENGTHS,
    ...options,
  });

test('windows follow each other, each tested with its best trial, in a file as in an object', async () => {
  const seen: (readonly [number, number])[] = [];
  const found = await walk({ onWindow: (done, windows) => seen.push([done, windows]) });
  const { windows, outOfSample, trials } = found;
  expect(windows.length).toBe(2);
  expect(seen).toEqual(windows.map((_, i) => [i + 1, windows.length]));
  expect(trials).toBe(2 * windows.length);
  for (const [i, { window, parameters, testScore, test: figures }] of windows.entries()) {
    expect(window.testFromUs).toBe(window.trainToUs);
    expect(window.testFromUs).toBe(windows[i - 1]?.window.testToUs ?? window.testFromUs);
    expect(['2', '4']).toContain(parameters?.['stepBp']);
    expect(testScore).toBe(figures?.totalReturn);
  }
  const joined = windows
    .flatMap(({ testReturns }) => testReturns)
    .reduce((growth, value) => growth * (1 + value), 1);
  expect(outOfSample?.totalReturn).toBeCloseTo(joined - 1, 12);
  const logs = join(folder, 'logs');
  const ofFile = await walk({ strategy: example('grid'), id: grid.name, workers: 0, logs });
  expect(ofFile).toEqual(found);
  expect(readdirSync(logs)).toHaveLength(windows.length);
});

test('a window is the same search as a sweep of its training', async () => {
  const { windows } = await walk();
  const [{ window, trainScore }] = windows;
  const trained = await sweep({
    ...{ strategy: grid, data: DATASET, method: 'grid', vary: VARY, objective: 'totalReturn' },
    from: window.trainFromUs,
    to: window.trainToUs,
  });
  expect(trained.best?.score).toBe(trainScore);
});

test.each([
  [{ train: 'soon' }, "train 'soon': must be a length of time such as 1h30m"],
  [{ test: 10 }, "test '10': must be a length of time such as 1h30m"],
  [{ train: '30d' }, 'after the warm-up; training, purge and half a test need 30d'],
  [{ mode: 'purged' }, "mode 'purged': must be one of rolling, anchored"],
  [{ logs: folder }, 'logs: a strategy object has no hash that names its trials'],
  [{ log: 'x' }, "option 'log' is not known"],
  [{ trials: -1 }, 'trials -1: must be a whole number'],
])('a walk-forward analysis refuses %j with the option and its limit', async (options, message) => {
  await expect(walk(options as unknown as Partial<WalkForwardOptions>)).rejects.toThrow(message);
});

test('an aborted signal ends an analysis with its reason', async () => {
  const reason = new Error('enough');
  await expect(walk({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const controller = new AbortController();
  const onWindow = (): void => {
    controller.abort(reason);
  };
  await expect(walk({ signal: controller.signal, onWindow })).rejects.toBe(reason);
});

const START_MS = Date.UTC(2024, 0, 1);
/** Hourly candles of a wave, as `exchange.fetchOHLCV` of ccxt returns them. */
const CANDLES = Array.from({ length: 240 }, (_, i): Candle => {
  const at = (k: number): number =>
    Math.round(2000 + 100 * Math.sin(k / 9) + 7 * Math.sin(k)) / 100;
  const [open, close] = [at(i), at(i + 1)];
  const [low, high] = [Math.min(open, close) - 0.05, Math.max(open, close) + 0.05];
  const prices = [open, high, low, close].map((price) => Math.round(price * 100) / 100);
  return [START_MS + i * 3_600_000, ...prices, i === 3 ? 1e-7 : 12.5 + i];
});
const MARKET = { symbol: 'ETHUSDT', candles: CANDLES };
const NOTHING_RUNS = { strategy: cross, parameters: { fast: 3, slow: 9 } };

test('OHLCV arrays of ccxt are traded as they are, and as a dataset that is written', async () => {
  // Of this test alone: files of others, or of a run that was killed, are not its own.
  const scratch = mkdtempSync(join(folder, 'tmp-'));
  vi.stubEnv('TMPDIR', scratch);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const direct = await backtest({ ...NOTHING_RUNS, candles: [MARKET] });
  const data = await writeCandles(join(folder, 'candles'), [MARKET]);
  const written = await backtest({ ...NOTHING_RUNS, data });
  expect(direct.strategies[0].fills.length).toBeGreaterThan(2);
  expect(written.chainHash).toBe(direct.chainHash);
  const [market] = (await openDataset(data)).markets;
  expect(market?.counts).toEqual({ bar: CANDLES.length });
  const units = { tickSize: '0.01', lotSize: '0.1' };
  const given = await backtest({ ...NOTHING_RUNS, candles: [{ ...MARKET, ...units }] });
  expect(given.markets[0]?.lotSize).toBe('0.1');
  const options = { strategy: cross, candles: [{ ...MARKET, ...units }], method: 'grid' } as const;
  const found = await walkForward({
    ...options,
    vary: { fast: [2, 3], slow: [9] },
    ...{ train: '4d', test: '2d', objective: 'totalReturn' },
  });
  expect(found.windows).toHaveLength(3);
  expect(readdirSync(scratch).filter((name) => name.startsWith('orrery-candles-'))).toEqual([]);
});

test('the book is closed where candles are missing, unless it is kept', async () => {
  const hour = 3_600_000_000;
  const holed = CANDLES.filter((_, i) => i < 20 || i > 60);
  const tries: number[] = [];
  const late = defineStrategy({
    name: 'late',
    parameters: {},
    barsUs: () => [hour],
    create: () => ({
      onBar(_bar, context) {
        if (context.now() - START_MS * 1000 > 19.5 * hour) return;
        // Half an hour after the book has closed.
        context.setTimer('late', 21 * hour - (context.now() - START_MS * 1000));
      },
      async onTimer(_name, context) {
        tries.push(context.now());
        await context.submit({ side: 'buy', size: '0.1' });
      },
    }),
  });
  const run = {
    ...{ strategy: late, candles: [{ symbol: 'ETHUSDT', candles: holed }], latency: '5ms' },
  };
  const closed = await backtest(run);
  expect(tries.length).toBeGreaterThan(0);
  expect(closed.strategies[0].fills).toEqual([]);
  expect(closed.markets[0]?.gaps).toEqual([
    {
      fromUs: START_MS * 1000 + 21 * hour - 1,
      toUs: START_MS * 1000 + 62 * hour - 1,
    },
  ]);
  expect(closed.report.data.filter(({ isWarning }) => isWarning)).toEqual([]);
  const kept = await backtest({ ...run, bars: 'holes=keep' });
  expect(kept.strategies[0].fills.length).toBeGreaterThan(0);
  expect(kept.report.data.filter(({ isWarning }) => isWarning).map(({ text }) => text)).toEqual([
    expect.stringContaining('where bars are missing'),
  ]);
});

test('bars without volume fill nothing, which is a warning; a stated depth fills', async () => {
  const silent = CANDLES.slice(0, 30).map(([time, open, high, low, close]): Candle => {
    return [time, open, high, low, close, 0];
  });
  const buyer = defineStrategy({
    name: 'buyer',
    parameters: {},
    create: () => ({
      onStart: (context) => {
        context.setTimer('buy', 5 * 3_600_000_000);
      },
      async onTimer(_name, context) {
        await context.submit({ side: 'buy', size: '1' });
      },
    }),
  });
  const run = {
    ...{ strategy: buyer, candles: [{ ...MARKET, candles: silent }], warmUp: '0s' },
  };
  const warnings = ({ report }: BacktestResult): string[] =>
    report.data.filter(({ isWarning }) => isWarning).map(({ text }) => text);
  const none = await backtest(run);
  expect(none.strategies[0].fills).toEqual([]);
  expect(warnings(none)).toEqual([
    'No bar of ETHUSDT has volume, so no order is filled. --bars depth=<lots> states a volume.',
  ]);
  const stated = await backtest({ ...run, bars: 'depth=1000000' });
  expect(stated.strategies[0].fills).toHaveLength(1);
  expect(warnings(stated)).toEqual([]);
});

test.each([
  [[], 'candles: no market is given'],
  [[{ symbol: 'BTC/USDT:USDT', candles: CANDLES }], 'dash and underscore, such as BTC-USDT'],
  [[MARKET, MARKET], 'ETHUSDT is given twice'],
  [[{ symbol: 'X', candles: [] }], 'candles of X: must be a list of at least two'],
  [[{ symbol: 'X', candles: CANDLES.slice(0, 3).reverse() }], 'candle 1: time 1704070800000 must'],
  [[{ symbol: 'X', candles: [[0, 1, 2], ...CANDLES] }], "candle 0: low 'undefined' must be"],
  [[{ symbol: 'X', candles: [[0, 1, 2, NaN, 1, 1]] }], 'must be a list of at least two'],
  [[{ symbol: 'X', candles: [...CANDLES.slice(0, 2), [1e15, 1, 1, 2, 1, 1]] }], 'candle 2: '],
  [[{ ...MARKET, tickSize: '0.01' }], 'tickSize and lotSize need each other'],
  [[{ ...MARKET, interval: 'x' }], "interval 'x': must be a length of time"],
  [
    [{ ...MARKET, interval: '2h' }],
    'candle 1: the bar of 2024-01-01 01:00:00.000000 begins 1h after',
  ],
  [
    [{ symbol: 'X', candles: CANDLES.filter((_, i) => i !== 1) }],
    'those before it last 2h; interval gives the length of a bar',
  ],
  [[{ ...MARKET, tickSize: '0.5', lotSize: '0.1' }], 'candles of ETHUSDT: candle 0: `high` price'],
])('candles %# are refused with their market, place and field', async (candles, message) => {
  const path = join(folder, 'refused');
  const refused = writeCandles(path, candles);
  await expect(refused).rejects.toThrow(message);
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(folder).filter((name) => name.startsWith('refused'))).toEqual([]);
});

test('candles exclude data, agents and a log that continues', async () => {
  const run = { strategy: cross, candles: [MARKET] };
  await expect(backtest({ ...run, data: DATASET })).rejects.toThrow('one of data, candles and');
  await expect(backtest({ ...run, agents: 'x' })).rejects.toThrow('one of data, candles and');
  const log = { strategy: example('sma-cross'), candles: [MARKET], log: join(folder, 'log') };
  await expect(sweep(log)).rejects.toThrow('write them with writeCandles, then give data');
});
