import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BacktestResult } from '../../src/backtest/result.ts';
import { renderReport, writeReport } from '../../src/report/html.ts';
import { openBrowser, type OpenBrowser } from '../browser/chromium.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-report-'));
let browser: OpenBrowser;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = 1_723_161_256_000_000;

function result(title = 'A run'): BacktestResult {
  const series = Array.from({ length: 120 }, (_, i) => ({
    timeUs: start + i * 1_000_000,
    mid: 61_800 + (i % 9),
    mark: 61_800,
    equity: 10_000 - i / 10,
    drawdown: 0 - i / 10,
    position: ((i % 5) - 2) / 100,
    leverage: 0.1,
  }));
  return {
    orrery: 'backtest',
    version: 1,
    title,
    summary: {
      symbol: 'BTCUSDT',
      strategy: title,
      firstUs: start,
      lastUs: start + 119_000_000,
      equityStart: '10000',
      equityEnd: '9988.1',
      pnl: '-11.9',
      pnlTrading: '-10',
      pnlFees: '-1.9',
      pnlFunding: '0',
      fills: 2,
      makerFills: 2,
      orders: 4,
      rejectedOrders: 0,
      volume: '0.04',
      turnover: '2472',
      finalPosition: '0',
      maxDrawdown: '11.9',
      maxPosition: '0.02',
      commands: 10,
      chainHash: 'c'.repeat(32),
      stateHash: 's'.repeat(64),
    },
    series,
    sampleUs: 1_000_000,
    fills: (['buy', 'sell'] as const).map((side, i) => ({
      timeUs: start + i * 30_500_000,
      side,
      role: 'maker' as const,
      price: '61800.1',
      size: '0.02',
      fee: '0.1',
      realizedPnl: '-5',
      orderNumber: i + 1,
    })),
    assumptions: [{ title: 'Mark', text: 'from the book' }],
    data: [{ title: 'Gaps', text: 'none' }],
    conventions: [{ title: 'PnL', text: 'change of equity' }],
    verify: ['npm run demo'],
  };
}

test('text of a run cannot break out of the page', () => {
  const html = renderReport(result('</script><script>alert(1)</script>"&'), 'void 0;');
  expect(html).not.toContain('<script>alert');
  expect(html).toContain('&#60;/script&#62;');
});

test('the same result makes the same bytes', () => {
  expect(renderReport(result(), 'void 0;')).toBe(renderReport(result(), 'void 0;'));
});

test('the page opens offline: no request, no error, drawn charts, a working filter', async () => {
  const path = await writeReport(result(), folder);
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
  await page.waitForSelector('#charts[data-ready="true"]');
  expect(await page.getAttribute('#charts', 'data-markers')).toBe('2');
  const inked = await page.evaluate(() =>
    [...document.querySelectorAll('canvas')].map((canvas) => {
      const context = canvas.getContext('2d');
      const pixels = context?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      return pixels.some((value) => value !== 0);
    }),
  );
  expect(inked.filter(Boolean).length).toBeGreaterThan(8);
  await page.fill('#search', 'sell');
  expect(await page.locator('#fills tbody tr:visible').count()).toBe(1);
  expect(problems).toEqual([]);
  expect(JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8'))).toEqual(result());
});
