/** The report page: opens offline, draws charts, filters, escapes; and its companion files. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BacktestOutput } from '../../src/backtest/output.ts';
import { renderReport } from '../../src/report/html.ts';
import { ICON_URL } from '../../src/design/icon.ts';
import { DARK, LIGHT } from '../../src/design/tokens.ts';
import { buildReport } from '../../src/report/report.ts';
import { writeReport } from '../../src/report/write.ts';
import { openBrowser, type OpenBrowser } from '../browser/chromium.ts';
import { ABOUT, fill, output, START_US, STEP_US, strategy } from './fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-report-'));
let browser: OpenBrowser;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Of the run in `folder`. */
const timesUs = [START_US, START_US + 9 * STEP_US];
const PLOTS = [
  { name: 'sma', symbol: 'BTCUSDT', pane: 'price', timesUs, values: [61_801, 61_804.5] },
  { name: 'rsi', symbol: 'BTCUSDT', pane: 'below', timesUs, values: [null, 42] },
  { name: 'equity', symbol: 'BTCUSDT', pane: 'below', timesUs, values: [10_000, 9_998] },
  { name: 'of another market', symbol: 'ETHUSDT', pane: 'price', timesUs, values: [1, 2] },
] as const;

const render = (run: BacktestOutput, title = 'A run'): string =>
  renderReport(buildReport(run, { ...ABOUT, title }), run, { scripts: ['void 0;'], styles: '' });

test('text of a run is escaped in the page', () => {
  const text = '</script><script>alert(1)</script>"&';
  const plots = [
    { name: text, symbol: 'BTCUSDT', pane: 'price', timesUs: [0], values: [1] },
  ] as const;
  const fills = [fill('buy', '1', '5', '1', { tag: text })];
  const hostile = strategy(text, { name: text, parameters: { p: text }, plots, fills });
  const html = render(output([hostile]), text);
  expect(html).not.toContain('<script>alert');
  expect(html).toContain('&#60;/script&#62;');
});

test('equal runs produce equal bytes', () => {
  expect(render(output([strategy('a')]))).toBe(render(output([strategy('a')])));
});

test('the line below a title that names the run has its time only', () => {
  const run = output([strategy('a')]);
  const lines = ['a on BTCUSDT', 'A run'].map(
    (title) => /class="lede">([^<]*)</.exec(render(run, title))?.[1] ?? '',
  );
  expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\d .* UTC \(/);
  expect(lines[1]).toBe(`a on BTCUSDT, ${lines[0] ?? ''}`);
});

test('prices have all decimals of the tick, and a date in a header stays on one line', () => {
  const html = render(output([strategy('a', { fills: [fill('buy', '1', '5', '1')] })]));
  const row = /<tr id="fill-0-[^]*?<\/tr>/.exec(html)?.[0] ?? '';
  expect(row).toMatch(/>5\.0+</);
  expect(html).toMatch(/Time, <span class="whole">\d{4}-\d\d-\d\d<\/span>/);
});

test('a small drawdown has two digits on its axis and in the legend', async () => {
  const { equity } = strategy('a');
  const flat = equity.map((point, i) => ({ ...point, equity: i === 5 ? 9_999.95 : 10_000 }));
  const run = output([strategy('a', { equity: flat })]);
  const { page: path } = await writeReport(run, ABOUT, join(folder, 'shallow'));
  const page = await browser.context.newPage();
  await page.goto(pathToFileURL(path).href);
  await page.waitForSelector('[data-draws="equity"][data-ready="true"]');
  const shown = await page.locator('[data-reads="fall"]').first().textContent();
  expect(shown).toMatch(/^.?0\.0{5}\s%$/);
  await page.close();
});

test('a run of hours has a note instead of annualised figures', () => {
  const { equity } = strategy('a');
  const html = render(output([strategy('a', { equity: equity.slice(0, 50) })]));
  expect(html).toContain('shorter than a day');
  expect(html).not.toContain('Sharpe, a year');
  expect(render(output([strategy('a')]))).toContain('Sharpe, a year');
});

test('a Sharpe ratio without a value has its reason', () => {
  const flat = strategy('a').equity.map((point) => ({ ...point, equity: 10_000 }));
  expect(render(output([strategy('a', { equity: flat })]))).toContain(
    'need at least two returns that differ',
  );
  const single = 'The deflated Sharpe ratio is that of the best trial of a search';
  expect(render(output([strategy('a')]))).toContain(single);
  const run = output([strategy('a')]);
  const searched = buildReport(run, { ...ABOUT, trials: { count: 9, sharpeVariance: 0.01 } });
  expect(renderReport(searched, run, { scripts: ['void 0;'], styles: '' })).not.toContain(single);
});

test('the page of a market with agents only charts its stylised facts and has no strategy section', async () => {
  const run = output([]);
  const series = Array.from({ length: 200 }, (_, i) => ({
    timeUs: START_US + i * 1e6,
    mid: 100 + ((i * 37) % 11) / 10,
    mark: 100,
    index: 100.5,
    spread: 0.1 * (1 + (i % 4)),
    bidSize: 1 + (i % 7),
    askSize: 2,
  }));
  const market = { ...run.markets[0]!, series };
  const about = { ...ABOUT, title: 'Agents on T', isEndogenous: true };
  const alone = join(folder, 'agents');
  const { page: path } = await writeReport(
    { ...run, markets: [market], strategies: [] },
    about,
    alone,
  );
  const page = await browser.context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(pathToFileURL(path).href);
  const drawn = page.locator('[data-market="0"] .small[data-ready="true"] canvas');
  await drawn.nth(4).waitFor();
  expect(await drawn.count()).toBe(5);
  expect(problems).toEqual([]);
  expect(await page.locator('h2').allTextContents()).not.toContain('How figures are computed');
  await page.close();
});

test('the page opens offline: no request, no error, drawn charts, a working filter', async () => {
  const { page: path } = await writeReport(
    output([strategy('a', { plots: PLOTS })]),
    ABOUT,
    folder,
  );
  const page = await browser.context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith('file:') && !request.url().startsWith('data:')) {
      problems.push(request.url());
    }
  });
  await page.goto(pathToFileURL(path).href);
  await page.waitForSelector('[data-draws="rolling"][data-ready="true"]');
  expect(await page.getAttribute('[data-draws="price-fills"]', 'data-markers')).toBe('2');
  expect(await page.getAttribute('[data-draws="price-fills"]', 'data-plots')).toBe('3');
  // Price, position, leverage, and each value below in a pane of its own scale.
  expect(await page.getAttribute('[data-draws="price-fills"]', 'data-panes')).toBe('5');
  expect(await page.locator('[data-reads="plots"]').textContent()).toBe(
    'sma 61,804.5, rsi 42.0000, equity 9,998.00',
  );
  expect(await page.getAttribute('link[rel=icon]', 'href')).toBe(ICON_URL);
  expect(await page.locator('[data-ready="true"]').count()).toBe(7);
  const inked = await page.evaluate(() =>
    [...document.querySelectorAll('canvas')].map((canvas) => {
      const context = canvas.getContext('2d');
      const pixels = context?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      return pixels.some((value) => value !== 0);
    }),
  );
  expect(inked.filter(Boolean).length).toBeGreaterThan(10);
  await page.fill('[data-filters="fills-0"]', 'sell');
  expect(await page.locator('#fills-0 tbody tr:visible').count()).toBe(1);
  expect(problems).toEqual([]);
});

test('tables sort, show all rows, and are saved as CSV; the theme switches', async () => {
  const fill = strategy('a').fills[0]!;
  const fills = Array.from({ length: 30 }, (_, i) => ({
    ...fill,
    fillId: i + 1,
    price: String(61_000.5 + ((i * 7) % 30) * 100),
    realizedPnl: i === 3 ? '-1234.5' : '0',
    tag: ['=1+1', '-1+cmd', '@SUM(1)'][i] ?? null,
  }));
  const { page: path } = await writeReport(
    output([strategy('a', { fills })]),
    ABOUT,
    join(folder, 'table'),
  );
  const page = await browser.context.newPage();
  await page.goto(pathToFileURL(path).href);
  await page.waitForSelector('[data-draws="price-fills"][data-ready="true"]');
  const rows = page.locator('#fills-0 tbody tr:visible');
  expect(await rows.count()).toBe(12);
  await page.click('[data-shows="fills-0"]');
  expect(await rows.count()).toBe(30);
  const prices = () => page.locator('#fills-0 tbody tr td:nth-child(4)').allTextContents();
  const numbers = fills.map(({ price }) => Number(price)).sort((a, b) => a - b);
  const head = page.locator('#fills-0 thead th:nth-child(4) button');
  await head.click();
  expect((await prices()).map((text) => Number(text.replaceAll(',', '')))).toEqual(numbers);
  await head.click();
  expect((await prices())[0]).toBe('63,900.5');
  expect(await page.getAttribute('#fills-0 thead th:nth-child(4)', 'aria-sort')).toBe('descending');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('[data-saves="fills-0"]'),
  ]);
  const csv = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\n');
  expect(csv).toHaveLength(31);
  expect(csv[1]?.split(',')[3]).toBe('63900.5');
  expect(csv.filter((line) => line.includes(',-1234.5,'))).toHaveLength(1);
  // A spreadsheet takes text of a strategy for text.
  for (const cell of [",'=1+1", ",'-1+cmd", ",'@SUM(1)"]) {
    expect(csv.filter((line) => line.includes(cell))).toHaveLength(1);
  }
  // A link to a fill shows it although a table starts with twelve rows.
  await page.goto(`${pathToFileURL(path).href}#fill-0-29`);
  await page.reload();
  expect(await page.locator('#fill-0-29').isVisible()).toBe(true);
  const dark = () => page.evaluate(() => getComputedStyle(document.body).color);
  const before = await dark();
  await page.click('[data-themes]');
  expect(await dark()).not.toBe(before);
  await page.close();
});

test('samples within one second stay apart', async () => {
  const { equity } = strategy('a');
  const dense = equity.map((point, i) => ({ ...point, timeUs: START_US + i * 100_000 }));
  const run = output([strategy('a', { equity: dense })]);
  const { page: path } = await writeReport(run, ABOUT, join(folder, 'dense'));
  const page = await browser.context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(pathToFileURL(path).href);
  await page.waitForSelector('[data-draws="equity"][data-ready="true"]');
  expect(problems).toEqual([]);
  await page.close();
});

test('text is readable on every background, in both themes', () => {
  const luminance = (hex: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (a: string, b: string): number => {
    const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  for (const theme of [LIGHT, DARK]) {
    for (const ground of ['bg', 'surface', 'sunken', 'hover'] as const) {
      for (const ink of ['text', 'text-2', 'text-3', 'accent', 'gain', 'loss', 'danger'] as const) {
        expect(contrast(theme[ink], theme[ground]), `${ink} on ${ground}`).toBeGreaterThan(4.5);
      }
      expect(contrast(theme['line-strong'], theme[ground]), ground).toBeGreaterThan(2.9);
    }
    expect(contrast(theme.warn, theme['warn-soft'])).toBeGreaterThan(4.5);
  }
});

test('several strategies are compared, then each has its own section', async () => {
  const run = output([strategy('first'), strategy('second one')]);
  const { page: path } = await writeReport(run, ABOUT, join(folder, 'two'));
  const page = await browser.context.newPage();
  await page.goto(pathToFileURL(path).href);
  const second = '[data-strategy="1"] [data-draws="equity"][data-ready="true"]';
  await page.waitForSelector(second, { state: 'attached' });
  expect(await page.locator(second).isVisible()).toBe(false);
  await page.click('#tab-1');
  await page.waitForSelector(second);
  expect(await page.locator('h2.strategy').allTextContents()).toEqual(['first', 'second one']);
  expect(readdirSync(join(folder, 'two')).sort()).toEqual([
    'equity.arrow',
    'explain.html',
    'fills.arrow',
    'index.html',
    'orders.arrow',
    'positions.arrow',
    'report.json',
    'trades.arrow',
  ]);
});

test('JSON and Arrow files contain the data of the page', () => {
  const run = output([strategy('a', { plots: PLOTS })]);
  const read = (name: string) => readFileSync(join(folder, name));
  expect(JSON.parse(read('report.json').toString())).toEqual(
    JSON.parse(JSON.stringify(buildReport(run, ABOUT))),
  );
  const equity = tableFromIPC(read('equity.arrow'));
  expect(equity.numRows).toBe(121);
  expect(equity.get(120)?.toJSON()).toMatchObject({
    strategy: 'a',
    time: (START_US + 120 * STEP_US) / 1000,
    equity: 10_000 + 1 - 6,
  });
  const positions = tableFromIPC(read('positions.arrow'));
  expect(positions.get(120)?.toJSON()).toMatchObject({ market: 'BTCUSDT', position: -0.02 });
  const fills = tableFromIPC(read('fills.arrow'));
  expect(fills.get(1)?.toJSON()).toMatchObject({ price: 61700.1, side: 'sell', mid_1s: null });
  expect(tableFromIPC(read('orders.arrow')).numRows).toBe(0);
});
