/** Long figures on the screen: none is cut, and labels of the chart stand where their prices are. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fill, MAKER, Screen, SYMBOL, TRADER } from './screen.ts';

const LONG = 'ABCDEFGHIJK-USD-PERP';
const IOC = { ioc: true, postOnly: false, reduceOnly: false };
const folder = mkdtempSync(join(tmpdir(), 'orrery-layout-'));
let screen: Screen;

beforeAll(async () => {
  const config = join(folder, 'exchange.yaml');
  const long = `{ symbol: ${LONG}, tickSize: 0.00000001, lotSize: 100 }`;
  writeFileSync(config, `markets: [${SYMBOL}, ${long}]\n`);
  screen = await Screen.start(['--config', config]);
  const { server } = screen;
  await server.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await server.sim('oracle', { symbol: LONG, price: '0.00001234' });
  for (const { address } of [TRADER, MAKER]) {
    await server.sim('deposit', { account: address, amount: '999999999999' });
  }
  for (const [price, quantity] of [
    ['60000', '20'],
    ['60040', '0.5'],
  ] as const) {
    await server.place(MAKER, { price, quantity: `-${quantity}` });
    await server.place(TRADER, { price, quantity, flags: IOC });
  }
  for (let i = 0; i < 30; i += 1) {
    await server.place(TRADER, { price: String(50_000 + i), quantity: '0.01' });
  }
  for (let i = 1; i < 4; i += 1) {
    for (const sign of [-1, 1]) {
      const price = (0.00001234 + sign * i * 0.00000003).toFixed(8);
      const quantity = `${sign > 0 ? '-' : ''}9${String(i)}2345600`;
      await server.place(MAKER, { symbol: LONG, price, quantity });
    }
  }
  // A loss of 102,520 USD.
  await server.sim('oracle', { symbol: SYMBOL, price: '55000' });
}, 90_000);
afterAll(async () => {
  await screen.close();
  rmSync(folder, { recursive: true });
});

async function open(): Promise<Page> {
  const { page } = await screen.open();
  await page.goto(`${screen.server.url}/ui#market=${SYMBOL}`);
  await page.waitForSelector('.connection.ok');
  await screen.logInWithKey(page, 1);
  await expect.poll(() => screen.openCount(page)).toBe('30');
  return page;
}

/** Texts of cells that are wider than their cell. */
const cut = (page: Page): Promise<string[]> =>
  page.locator('.bottom table :is(th, td)').evaluateAll((cells) =>
    cells.flatMap((cell) => {
      const text = document.createRange();
      text.selectNodeContents(cell);
      const { left, right } = cell.getBoundingClientRect();
      const inner = text.getBoundingClientRect();
      const isCut = inner.left < left - 1 || inner.right > right + 1;
      return isCut && cell.textContent !== '' ? [cell.textContent] : [];
    }),
  );

test('no figure of a table is cut, wide or narrow', async () => {
  const page = await open();
  for (const width of [768, 1024, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    for (const [tab, figure] of [
      ['positions', /−102,520\.00/],
      ['orders', /0\.0000 \/ 0\.0100/],
      ['fills', /60,000\.0/],
      ['transfers', /999,999,999,999\.00/],
    ] as const) {
      await page.locator(`#tab-${tab}`).click();
      await expect.poll(() => page.locator('.bottom table').textContent()).toMatch(figure);
      expect(await cut(page), `${tab} at ${String(width)} px`).toEqual([]);
    }
  }
  await page.close();
});

test('on a phone, all values of a card end at its right side', async () => {
  const page = await open();
  await page.setViewportSize({ width: 640, height: 800 });
  const ends = await page
    .locator('.bottom td')
    .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().right));
  expect(ends.length).toBeGreaterThan(10);
  expect(new Set(ends).size).toBe(1);
  await page.close();
});

test('a long name of a unit leaves the field of the size its digits', async () => {
  const page = await open();
  await page.goto(`${screen.server.url}/ui#market=${LONG}`);
  await expect.poll(() => page.locator('.market-bar h1').textContent()).toContain(LONG);
  await fill(page, 'size', '123456789000');
  const hidden = await page.locator('#ticket-size').evaluate((field) => {
    return field.scrollWidth - field.clientWidth;
  });
  expect(hidden).toBe(0);
  await page.close();
});

test('prices of eight decimals and sizes of nine digits do not touch in the book', async () => {
  const page = await open();
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${screen.server.url}/ui#market=${LONG}`);
    const rows = page.locator('.levels tr:has(.level)');
    await expect.poll(() => rows.count()).toBe(6);
    const gaps = () =>
      rows.evaluateAll((all) =>
        all.flatMap((row) => {
          const edges = [...row.querySelectorAll('.level, td')].map((cell) => {
            const text = document.createRange();
            text.selectNodeContents(cell);
            return text.getBoundingClientRect();
          });
          const pane = row.closest('.pane')!.getBoundingClientRect().right;
          const lefts = [...edges.slice(1).map(({ left }) => left), pane];
          return lefts.map((left, i) => left - (edges[i]?.right ?? 0));
        }),
      );
    await expect
      .poll(async () => Math.min(...(await gaps())), { message: String(width) })
      .toBeGreaterThanOrEqual(4);
  }
  await page.close();
});

/** Pixels of the axis of prices that have the colour of a label of a buy order. */
const labelled = (page: Page): Promise<number> =>
  page.locator('.chart-canvas canvas').evaluateAll((canvases) => {
    let count = 0;
    for (const canvas of canvases as HTMLCanvasElement[]) {
      const { width, height } = canvas;
      if (width === 0 || width > 120) continue;
      const bytes = canvas.getContext('2d')!.getImageData(0, 0, width, height).data;
      for (let i = 0; i < bytes.length; i += 4) {
        if (bytes[i] === 0 && bytes[i + 1] === 0x6b && bytes[i + 2] === 0x60) count += 1;
      }
    }
    return count;
  });

test('orders far from the candles have no label on the axis, and near ones do', async () => {
  const page = await open();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 900 });
  await expect.poll(() => page.locator('.ohlc').textContent()).toContain('60,040.0');
  // Labels follow the lines within a fifth of a second.
  await page.waitForTimeout(600);
  expect(await labelled(page)).toBe(0);
  await screen.server.place(TRADER, { price: '59000', quantity: '0.01' });
  await expect.poll(() => labelled(page)).toBeGreaterThan(100);
  await page.close();
});
