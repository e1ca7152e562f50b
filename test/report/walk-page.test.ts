/** The page of a walk-forward: chain of tests, windows, no network access. */
import { expect, test } from 'vitest';
import { metricsOf } from '../../src/metrics/metrics.ts';
import { pageLibraries } from '../../src/report/libraries.ts';
import { renderWalk, type WalkReport, type WalkReportWindow } from '../../src/report/walk-page.ts';

const HOUR_US = 3_600_000_000;
const START_US = 1_700_000_000_000_000;

const window = (at: number, more: Partial<WalkReportWindow> = {}): WalkReportWindow => ({
  trainFromUs: START_US + at * HOUR_US,
  trainToUs: START_US + (at + 10) * HOUR_US,
  testFromUs: START_US + (at + 11) * HOUR_US,
  testToUs: START_US + (at + 14) * HOUR_US,
  parameters: 'fast=5 slow=<20>',
  trials: 9,
  log: 'window-1.trials.jsonl',
  trainScore: 2,
  testScore: -1,
  testReturn: -0.01,
  testPnl: '-100.5',
  testTrades: 3,
  returns: [0.01, -0.02, 0.005],
  error: null,
  ...more,
});

async function page(windows: readonly WalkReportWindow[], more: Partial<WalkReport> = {}) {
  const walk: WalkReport = {
    title: 'Walk-forward of x',
    objective: 'sharpe',
    periodUs: HOUR_US,
    windows,
    outOfSample: null,
    efficiency: null,
    assumptions: [{ title: 'Windows: purged', text: 'a gap of 1 h' }],
    ...more,
  };
  const html = renderWalk(walk, await pageLibraries());
  const text = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? '';
  return { html, data: JSON.parse(text) as { walk: { chain: Chain; scores: unknown } } };
}

interface Chain {
  readonly time: number[];
  readonly growth: number[];
  readonly underwater: number[];
}

test('joined tests that lost all stay at 0, and no second loss makes a gain of it', async () => {
  const { data } = await page([
    window(0, { returns: [-1.2, 0.5] }),
    window(3, { returns: [-1.1, 0.2] }),
  ]);
  expect(data.walk.chain.growth).toEqual([1, 0, 0, 0, 0]);
  expect(data.walk.chain.underwater).toEqual([0, -100, -100, -100, -100]);
});

test('the tests are concatenated at their own times, with drawdown from the chain’s high', async () => {
  const { data, html } = await page([window(0), window(3, { returns: [0.03], testScore: null })]);
  const { time, growth, underwater } = data.walk.chain;
  const hour = (at: number): number => START_US / 1e6 + at * 3600;
  expect(time).toEqual([hour(11), hour(12), hour(13), hour(14), hour(15)]);
  const grown = 1.01 * 0.98 * 1.005;
  expect(growth.at(-2)).toBeCloseTo(grown, 12);
  expect(growth.at(-1)).toBeCloseTo(grown * 1.03, 12);
  expect(underwater[3]).toBeCloseTo((grown / 1.01 - 1) * 100, 10);
  expect(underwater.at(-1)).toBe(0);
  expect(data.walk.scores).toEqual([
    [2, -1],
    [2, null],
  ]);
  expect(html).toContain('fast=5 slow=&#60;20&#62;');
  expect(html).toContain('2023-11-14 22:13 – 11-15 08:13');
  // A link is no request: nothing is loaded.
  expect(html).not.toMatch(/src="http|<link[^>]*https?:/);
});

test('a chart of bars has the times of the table', async () => {
  const bars = { testFromUs: START_US + 59_999_999 };
  const { data } = await page([window(0, bars)]);
  expect(data.walk.chain.time[0]).toBe(START_US / 1e6 + 60);
});

test('a window has its return once', async () => {
  const titles = (html: string): string[] =>
    [...html.matchAll(/<th[^>]*>(?:<button[^>]*>)?([^<]* ?(?:in|out))</g)].map(
      ([, title = '']) => title,
    );
  const { html } = await page([window(0)]);
  expect(titles(html)).toEqual(['Sharpe in', 'out', 'Return out', 'PnL out']);
  const { html: byReturn } = await page([window(0)], { objective: 'totalReturn' });
  expect(titles(byReturn)).toEqual(['Return in', 'out', 'PnL out']);
});

test('the number of trials of a window links to its training trials', async () => {
  const { html } = await page([window(0), window(3, { log: 'window-2.trials.jsonl' })]);
  expect(html).toContain('<a href="window-1.trials.jsonl">9</a>');
  expect(html).toContain('<a href="window-2.trials.jsonl">9</a>');
});

test('the page of a walk-forward without a result has a note', async () => {
  const { html, data } = await page([window(0, { returns: [], parameters: null })]);
  expect(data.walk.chain.time).toEqual([]);
  expect(html).toContain('No window has a result out of sample.');
});

test('a test that failed is named, and the verdict says that it is left out', async () => {
  const outOfSample = metricsOf({ timesUs: [0, 1, 2], equity: [1, 1.1, 1.2] });
  const failed = { testScore: null, testReturn: null, testPnl: null, returns: [] };
  const { html } = await page(
    [window(0), window(3, { ...failed, error: 'onBook: bad <luck>' }), window(6)],
    { outOfSample, efficiency: 0.5 },
  );
  expect(html).toContain('Attention: 1 of 3 windows failed and is in no figure.');
  expect(html).toContain('<li>Window 2: onBook: bad &#60;luck&#62;</li>');
  const { html: whole } = await page([window(0)], { outOfSample, efficiency: 0.5 });
  expect(whole).not.toContain('Attention');
});

test('tests without a score have results, and the verdict counts them', async () => {
  const outOfSample = metricsOf({ timesUs: [0, 1, 2], equity: [1, 1.1, 1.2] });
  const unscored = { testScore: null, testReturn: 0.01 };
  const { html } = await page([window(0, unscored), window(3, unscored)], {
    objective: 'profitFactor',
    outOfSample,
  });
  expect(html).not.toContain('No window has a result out of sample.');
  expect(html).not.toContain('is not positive');
  expect(html).toMatch(
    /2 of 2 tests gained\. .*Attention: 2 of 2 tests have no Profit factor and no part in the efficiency\./,
  );
});
