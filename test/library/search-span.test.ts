/** The time in which the trials of a search trade: after the warm-up of all of them. */
import { backtest, defineStrategy, sweep, walkForward } from 'orrery/backtest';
import type { Candle } from 'orrery/backtest';
import { flag, integer } from 'orrery/strategy';
import { expect, test } from 'vitest';

const HOUR_US = 3_600_000_000;
const START_US = Date.UTC(2024, 0, 1) * 1000;
/** Ten days, by the hour, that gain the same amount in each hour. */
const CANDLES = Array.from({ length: 240 }, (_, i): Candle => {
  const close = (100_000 + 10 * (i + 1)) / 100;
  return [START_US / 1000 + i * 3_600_000, close - 0.1, close, close - 0.1, close, 1000];
});

/** A bar ends one µs before the next. */
const END_US = START_US + 240 * HOUR_US - 1;

/** Buys in its first hour of trading; logs how many bars came before. */
const holder = defineStrategy({
  name: 'holder',
  parameters: { hours: integer(36, { min: 1, max: 100 }) },
  barsUs: () => [HOUR_US],
  warmUpUs: ({ hours }) => hours * HOUR_US,
  create: () => {
    let seen = 0;
    let isIn = false;
    return {
      async onBar(_bar, context) {
        if (context.warmingUp) seen += 1;
        else if (!isIn) {
          isIn = true;
          context.log(`after ${seen}`);
          await context.submit({ side: 'buy', size: '1' });
        }
      },
    };
  },
});
const DATA = {
  strategy: holder,
  candles: [{ symbol: 'UP', candles: CANDLES }],
  fees: { maker: '0', taker: '0' },
  bars: 'spread=0',
  latency: 'none',
};
const SEARCH = { ...DATA, method: 'grid', objective: 'totalReturn' } as const;

test('a training that is shorter than its test has returns enough for a score', async () => {
  const { windows } = await walkForward({
    ...{ ...SEARCH, objective: 'sharpe', train: '150m', test: '72h', vary: { hours: [12] } },
  });
  // By the length of the test, a period would be an hour: a training would have three returns.
  expect(windows[0].testReturns.length).toBeGreaterThan(71 * 60);
  expect(windows[0].trainScore).toBeGreaterThan(0);
});

test('the first training of a walk-forward has the warm-up of all others', async () => {
  const lengths = { train: '72h', test: '36h', vary: { hours: [12, 36] } };
  const { windows, efficiency } = await walkForward({ ...SEARCH, ...lengths });
  expect(windows).toHaveLength(4);
  const [{ window }] = windows;
  // The recording begins at the end of its first bar, and 36 hours later is a whole period.
  expect(window.trainFromUs).toBe(START_US + 37 * HOUR_US);
  for (const { test: figures } of windows) expect(figures?.fills).toBe(1);
  // A test gains half as much as a training that is twice as long, and loses nothing by that.
  expect(efficiency).toBeGreaterThan(0.9);
  expect(efficiency).toBeLessThan(1.1);
  const named = await walkForward({ ...SEARCH, ...lengths, from: START_US + 48 * HOUR_US });
  expect(named.windows[0].window.trainFromUs).toBe(START_US + 48 * HOUR_US);
});

test('halving divides the time after the warm-up', async () => {
  const { all, best } = await sweep({
    ...SEARCH,
    ...{
      method: 'halving',
      trials: 9,
      eta: 3,
      vary: { hours: [96, 95, 94, 93, 92, 91, 90, 89, 88] },
    },
  });
  expect(all.map(({ error }) => error).filter((error) => error !== null)).toEqual([]);
  expect(best?.budget).toBe(1);
  const gained = [1, 1 / 3, 1 / 9].map(
    (share) => all.find(({ budget }) => Math.abs(budget - share) < 1e-9)!.figures!.totalReturn,
  );
  // One hour of each span passes before it buys.
  expect(gained[0]! / gained[1]!).toBeCloseTo(3, 0);
  expect(gained[1]! / gained[2]!).toBeCloseTo(3, 0);
});

test('a run states the warm-up that it had, and warns if it is short', async () => {
  const run = async (hours: number) => {
    const { strategies, report } = await backtest({
      ...DATA,
      from: START_US + hours * HOUR_US,
    });
    return {
      bars: strategies[0].log.map(({ text }) => text),
      note: report.assumptions.find(({ title }) => title === 'Warm-up')?.text,
      warnings: report.data.flatMap(({ text, isWarning }) => (isWarning ? [text] : [])),
    };
  };
  expect(await run(48)).toEqual({
    bars: ['after 35'],
    note: 'Strategies received data for 1d12h before trading started.',
    warnings: [],
  });
  const short = await run(25);
  expect(short.bars).toEqual(['after 24']);
  // The clock begins at the whole second before the first bar.
  expect(short.note).toBe('Strategies received data for 1d1s before trading started.');
  expect(short.warnings).toEqual([
    'The warm-up is 1d12h, and strategies received 1d1s of data before trading started, since the recording begins there. A later start has all of it.',
  ]);
  const none = await run(0);
  expect(none.note).toBeUndefined();
  expect(none.warnings.join()).toContain('strategies received no data before trading started');
});

/** Buys in its first hour, and sells when the data have ended, or keeps the position. */
const leaver = defineStrategy({
  name: 'leaver',
  parameters: { sells: flag(false) },
  barsUs: () => [HOUR_US],
  create: ({ sells }) => {
    let isIn = false;
    return {
      async onBar(_bar, context) {
        if (isIn || context.warmingUp) return;
        isIn = true;
        await context.submit({ side: 'buy', size: '1' });
      },
      async onStop(context) {
        if (sells) await context.submit({ side: 'sell', size: '1' });
      },
    };
  },
});
const LEFT = { ...DATA, strategy: leaver, latency: 'constant:entry=1s,response=1s' };

test('answers after the end of the data make no period of their own', async () => {
  const { all, overfitting } = await sweep({
    ...{ ...LEFT, method: 'grid', vary: { sells: [false, true] } },
    // Without them the trials are equal, and nothing is selected.
    fees: { maker: '0', taker: '0.001' },
    objective: 'totalReturn',
  });
  const [kept, sold] = all;
  expect(kept!.returns.length).toBeGreaterThan(200);
  // Rows of trials are compared period by period.
  expect(sold!.returns).toHaveLength(kept!.returns.length);
  expect(sold!.returns.slice(0, -1)).toEqual(kept!.returns.slice(0, -1));
  expect(sold!.returns.at(-1)).not.toBe(0);
  expect(overfitting?.periods).toBe(kept!.returns.length - (kept!.returns.length % 16));
});

test('a report of whole days has no day after them', async () => {
  const run = await backtest({ ...LEFT, parameters: { sells: true } });
  const { fills, equity } = run.strategies[0];
  expect(fills.at(-1)?.timeUs).toBe(END_US + 1 + 1_000_500);
  expect(equity.at(-1)).toMatchObject({ timeUs: END_US, positions: [0] });
  expect(run.report.strategies[0]?.days.map(({ day }) => day).at(-1)).toBe('2024-01-10');
  expect(run.report.strategies[0]?.days).toHaveLength(10);
});

test('a sample that is due at the end of the data shows the last answers too', async () => {
  const run = await backtest({
    ...LEFT,
    ...{ parameters: { sells: true }, from: START_US + 237 * HOUR_US },
    // The end of the data is a multiple of it.
    sample: 173_231_899,
  });
  const { equity } = run.strategies[0];
  expect(new Set(equity.map(({ timeUs }) => timeUs)).size).toBe(equity.length);
  expect(equity.at(-1)).toMatchObject({ timeUs: END_US, positions: [0] });
});
