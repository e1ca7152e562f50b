/** The page of a search: best trial, effect of each parameter, failed trials, no network access. */
import { expect, test } from 'vitest';
import { countedText } from '../../src/cli/search-pages.ts';
import { pageLibraries } from '../../src/report/libraries.ts';
import {
  renderSweep,
  type SweepReport,
  type SweepReportTrial,
} from '../../src/report/sweep-page.ts';

const trial = (
  number: number,
  values: readonly string[],
  score: number | null,
  more: Partial<SweepReportTrial> = {},
): SweepReportTrial => ({
  number,
  values,
  budget: 1,
  score,
  pnl: '12.5',
  maxDrawdown: -0.02,
  trades: 4,
  error: null,
  ...more,
});

const TRIALS = [
  trial(0, ['5', 'up'], 1),
  trial(1, ['5', '<down>'], -2),
  trial(2, ['10', 'up'], 3),
  trial(3, ['10', '<down>'], null, { error: 'no mark' }),
];

test('small scores keep their digits, and no cell is −0.00', async () => {
  const tiny = [
    trial(0, ['5', 'up'], -0.00041),
    trial(1, ['5', '<down>'], -0.00112),
    trial(2, ['10', 'up'], -0.0000012),
    trial(3, ['10', '<down>'], 0),
  ];
  const { html } = await page({ trials: tiny, best: tiny[2] ?? null });
  expect(html).not.toMatch(/[-−]0(\.0+)?</);
  for (const text of ['−0.00041<', '−0.0011<', '−0.00000<', '−0.0000012<']) {
    expect(html.includes(text), text).toBe(text !== '−0.00000<');
  }
});

test('trials whose objective is unknown are counted apart from failed ones', async () => {
  expect((await page()).html).toContain('>1 failed<');
  const { html } = await page({ trials: [...TRIALS, trial(4, ['15', 'up'], null)] });
  expect(html).toContain('>1 failed, 1 without a score<');
});

async function page(more: Partial<SweepReport> = {}) {
  const sweep: SweepReport = {
    title: 'Search of x',
    lede: 'a day',
    objective: 'sharpe',
    dimensions: [
      { name: 'fast', ordered: true, values: ['5', '10', '15'] },
      { name: 'way', ordered: false, values: ['up', '<down>'] },
    ],
    trials: TRIALS,
    best: TRIALS[2] ?? null,
    bestPage: 'best/index.html',
    commandOf: () => 'npx orrery backtest cross.ts --data d',
    deflatedSharpe: 0.461,
    counted: 4,
    ratios: 3,
    overfitting: null,
    variations: [{ name: 'fast +10 % (11)', score: null, pnl: null, error: 'no mark' }],
    bands: null,
    assumptions: [{ title: 'Market', text: 'Data x' }],
    ...more,
  };
  const html = renderSweep(sweep, await pageLibraries());
  const text = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? '';
  const data = JSON.parse(text) as {
    sweep: {
      trials: unknown;
      own: unknown;
      commands: unknown;
      used: unknown;
      parameters: { labels: unknown; points: unknown }[];
    };
  };
  return { html, sweep: data.sweep };
}

test('scores are placed at parameter values: numbers by value, words by index', async () => {
  const { html, sweep } = await page();
  expect(sweep.trials).toEqual([
    [0, 1],
    [1, -2],
    [2, 3],
    [3, null],
  ]);
  expect(sweep.parameters.map(({ labels, points }) => [labels, points])).toEqual([
    [
      null,
      [
        [5, 1],
        [5, -2],
        [10, 3],
      ],
    ],
    [
      ['up', '<down>'],
      [
        [0, 1],
        [0, 3],
        [1, -2],
      ],
    ],
  ]);
  expect(html).toContain('fast=10 way=up');
  expect(html).toContain('href="best/index.html"');
  expect(html).toContain('46.1\u202f%');
  expect(html).toContain('<dd>4<small>1 failed');
  expect(html).toContain('Not believable: deflated Sharpe 46.1\u202f%, below 95\u202f%');
  expect(html).not.toContain('<down>');
  // A link is no request: nothing is loaded.
  expect(html).not.toMatch(/src="http|<link[^>]*https?:/);
});

test('the verdict counts the trials of other searches, and names those without a ratio', async () => {
  const best = trial(2, ['10', 'up'], 3, { trades: 40 });
  const passed = await page({ best, deflatedSharpe: 0.97, counted: 57 });
  expect(passed.html).toContain('deflated Sharpe 97.0\u202f% over 57 trials');
  const unknown = await page({ best, deflatedSharpe: null, ratios: 1 });
  expect(unknown.html).toContain(
    'Not tested: 1 of 4 trials has a Sharpe ratio, which is too few for a deflated one.',
  );
});

test('trials of other searches are named as those of any strategy', () => {
  const of = (count: number) =>
    countedText({ trials: { count, sharpeVariance: 1 }, ratios: 4, overfitting: null }, 4);
  expect(of(4)).toBe('Failed trials count.');
  expect(of(5)).toContain('So does 1 trial of other searches and strategies on these data.');
  expect(of(10)).toContain('So do 6 trials of other searches and strategies on these data.');
});

test('two parameters have a surface of the values that trials used', async () => {
  const { html, sweep } = await page();
  expect(html).toContain('<canvas class="surface"');
  expect(sweep.used).toEqual([
    ['5', '10'],
    ['up', '<down>'],
  ]);
  expect(html).toContain('Failed trials by reason');
  const { html: none } = await page({ trials: TRIALS.slice(0, 1), dimensions: [] });
  expect(none).not.toContain('<canvas');
});

test('the page of a search without a result has a note', async () => {
  const { html } = await page({ trials: TRIALS.slice(3), best: null, bestPage: null });
  expect(html).toContain('No trial on all of the data has a score.');
  expect(html).not.toContain('best/index.html');
});

test('the command of a trial on a share of the data ends where the trial ended', async () => {
  const [first, second] = TRIALS;
  const { sweep } = await page({
    trials: [{ ...first!, budget: 0.25 }, second!],
    commandOf: (budget) => `npx orrery backtest cross.ts --to ${String(budget)}`,
  });
  expect(sweep.own).toEqual([
    [1, 0],
    [-2, 1],
  ]);
  expect(sweep.commands).toEqual([
    'npx orrery backtest cross.ts --to 0.25',
    'npx orrery backtest cross.ts --to 1',
  ]);
});
