/** The report page: opens offline, draws charts, filters, escapes; and its companion files. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BacktestOutput } from '../../src/backtest/output.ts';
import { renderReport } from '../../src/report/html.ts';
import { buildReport } from '../../src/report/report.ts';
import { writeReport } from '../../src/report/write.ts';
import { openBrowser, type OpenBrowser } from '../browser/chromium.ts';
import { ABOUT, output, START_US, STEP_US, strategy } from './fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-report-'));
let browser: OpenBrowser;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

const render = (run: BacktestOutput, title = 'A run'): string =>
  renderReport(buildReport(run, { ...ABOUT, title }), run, { scripts: ['void 0;'], styles: '' });

test('text of a run is escaped in the page', () => {
  const text = '</script><script>alert(1)</script>"&';
  const html = render(output([strategy(text, { name: text, parameters: { p: text } })]), text);
  expect(html).not.toContain('<script>alert');
  expect(html).toContain('&#60;/script&#62;');
});

test('equal runs produce equal bytes', () => {
  expect(render(output([strategy('a')]))).toBe(render(output([strategy('a')])));
});

test('a run of hours has a note instead of annualised figures', () => {
  const { equity } = strategy('a');
  const html = render(output([strategy('a', { equity: equity.slice(0, 50) })]));
  expect(html).toContain('shorter than a day');
  expect(html).not.toContain('Sharpe, a year');
  expect(render(output([strategy('a')]))).toContain('Sharpe, a year');
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
  const { page: path } = await writeReport(output([strategy('a')]), ABOUT, folder);
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
  expect(await page.getAttribute('[data-draws="curves"]', 'data-markers')).toBe('2');
  expect(await page.locator('[data-ready="true"]').count()).toBe(3);
  const inked = await page.evaluate(() =>
    [...document.querySelectorAll('canvas')].map((canvas) => {
      const context = canvas.getContext('2d');
      const pixels = context?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      return pixels.some((value) => value !== 0);
    }),
  );
  expect(inked.filter(Boolean).length).toBeGreaterThan(10);
  await page.fill('[data-filters]', 'sell');
  expect(await page.locator('#fills-a tbody tr:visible').count()).toBe(1);
  expect(problems).toEqual([]);
});

test('several strategies are compared, then each has its own section', async () => {
  const run = output([strategy('first'), strategy('second one')]);
  const { page: path } = await writeReport(run, ABOUT, join(folder, 'two'));
  const page = await browser.context.newPage();
  await page.goto(pathToFileURL(path).href);
  await page.waitForSelector('[data-strategy="1"] [data-draws="curves"][data-ready="true"]');
  expect(await page.locator('h2.strategy').allTextContents()).toEqual(['first', 'second one']);
  expect(readdirSync(join(folder, 'two')).sort()).toEqual([
    'first-equity.arrow',
    'first-fills.arrow',
    'first-orders.arrow',
    'index.html',
    'report.json',
    'second-one-equity.arrow',
    'second-one-fills.arrow',
    'second-one-orders.arrow',
  ]);
});

test('JSON and Arrow files contain the data of the page', () => {
  const run = output([strategy('a')]);
  const read = (name: string) => readFileSync(join(folder, name));
  expect(JSON.parse(read('report.json').toString())).toEqual(
    JSON.parse(JSON.stringify(buildReport(run, ABOUT))),
  );
  const equity = tableFromIPC(read('equity.arrow'));
  expect(equity.numRows).toBe(121);
  expect(equity.get(120)?.toJSON()).toMatchObject({
    timeUs: BigInt(START_US) + 120n * BigInt(STEP_US),
    equity: 10_000 + 1 - 6,
    'position BTCUSDT': -0.02,
  });
  const fills = tableFromIPC(read('fills.arrow'));
  expect(fills.get(1)?.toJSON()).toMatchObject({ price: '61700.1', side: 'sell', mid1s: null });
  expect(tableFromIPC(read('orders.arrow')).numRows).toBe(0);
});
