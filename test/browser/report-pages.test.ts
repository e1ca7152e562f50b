/** Pages of every kind in a browser: accessible by axe-core, narrow, dark and by keyboard. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, type OpenBrowser } from './chromium.ts';
import { violations } from './violations.ts';
import { examplePages } from '../report/fixture-pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-pages-'));
const NAMES = ['report', 'year', 'comparison', 'runs', 'orders', 'order', 'sweep', 'walk'];
/** Rules whose outcome depends on colours and widths. */
const BY_STYLE = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable'];
let browser: OpenBrowser;

beforeAll(async () => {
  browser = await openBrowser();
  for (const [name, html] of Object.entries(await examplePages())) {
    writeFileSync(join(folder, `${name}.html`), html);
  }
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Opened {
  readonly page: Page;
  readonly problems: string[];
}

async function open(name: string, hash = ''): Promise<Opened> {
  const page = await browser.context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  await page.setViewportSize({ width: 1360, height: 800 });
  await page.goto(`${pathToFileURL(join(folder, `${name}.html`)).href}${hash}`);
  return { page, problems };
}

/** Texts that a page draws on its canvases. */
async function drawnTexts(name: string): Promise<readonly string[]> {
  const page = await browser.context.newPage();
  await page.addInitScript(() => {
    const texts: string[] = [];
    Object.assign(globalThis, { texts });
    const { prototype } = CanvasRenderingContext2D;
    const draw = Reflect.get(prototype, 'fillText') as (this: object, ...all: unknown[]) => void;
    prototype.fillText = function (text, ...place) {
      texts.push(text);
      draw.call(this, text, ...place);
    };
  });
  await page.goto(pathToFileURL(join(folder, `${name}.html`)).href);
  await page.waitForFunction(() => document.querySelector('[data-draws="trials"] canvas') !== null);
  const texts = await page.evaluate(() => (globalThis as unknown as { texts: string[] }).texts);
  await page.close();
  return texts;
}

test('an axis of scores that are all 0 ends near 0', async () => {
  const percents = (await drawnTexts('flat')).filter((text) => text.endsWith('%'));
  expect(percents).toContain('0\u202f%');
  expect(percents.filter((text) => parseFloat(text.replace(',', '')) > 1)).toEqual([]);
});

test.each(NAMES)(
  'axe finds no fault in the page %s, light and dark, wide and narrow',
  async (name) => {
    const { page, problems } = await open(name);
    expect(await violations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await violations(page, BY_STYLE)).toEqual([]);
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0);
    expect(problems).toEqual([]);
    await page.close();
  },
);

test('a long name does not widen the page', async () => {
  const { page } = await open('order');
  const widths = await page.evaluate(() => {
    const title = document.querySelector('h1');
    if (title !== null) title.textContent = 'x'.repeat(1000);
    return [document.documentElement.scrollWidth, innerWidth];
  });
  expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0);
  await page.close();
});

test('axe finds a fault that is planted', async () => {
  const { page } = await open('order');
  await page.evaluate(() => {
    document.body.append(document.createElement('select'));
  });
  expect((await violations(page)).join()).toContain('select-name');
  await page.close();
});

test('candles replace the line, and the pointer shows the reason of a fill', async () => {
  const { page, problems } = await open('report');
  const chart = page.locator('[data-draws="price-fills"]');
  await page.waitForSelector('[data-draws="price-fills"][data-ready="true"]');
  expect(await chart.getAttribute('data-candles')).toBe('0');
  const lengths = await page.locator('[data-draws="candles"] option').allTextContents();
  expect(lengths).toEqual(['line', 'candles of 4 h', 'candles of 1 d']);
  await page.selectOption('[data-draws="candles"]', '14400');
  expect(await chart.getAttribute('data-candles')).toBe('121');
  await chart.scrollIntoViewIfNeeded();
  await page.waitForTimeout(100);
  const box = (await chart.boundingBox())!;
  const tip = chart.locator('.tip');
  for (let x = 100; x < 400 && (await tip.isHidden()); x += 3) {
    await page.mouse.move(box.x + x, box.y + 120);
  }
  expect(await tip.textContent()).toMatch(
    /(?:buy|sell) 0\.02 at 61,\d{3}\.\d as maker, order #\d+: (?:cross up|take profit)/,
  );
  expect(await page.locator('[data-reads="mid"]').first().textContent()).toMatch(/open .* close /);
  expect(problems).toEqual([]);
  await page.close();
});

test('charts show the whole run after the page got narrower, also in a tab opened later', async () => {
  const { page, problems } = await open('runs');
  await page.getByRole('tab').nth(1).click();
  const chart = page.locator('[data-strategy="1"] [data-draws="price-fills"]');
  const inView = async () => Number(await chart.getAttribute('data-in-view'));
  const markers = async () => Number(await chart.getAttribute('data-markers'));
  // A chart that was hidden had no width, and one mark for all fills of a side.
  await expect.poll(markers).toBeGreaterThan(10);
  const rows = await inView();
  expect(rows).toBeGreaterThan(400);
  const wide = await markers();
  await page.setViewportSize({ width: 390, height: 800 });
  await expect.poll(markers).toBeLessThan(wide);
  await expect.poll(inView).toBe(rows);
  expect(problems).toEqual([]);
  await page.close();
});

test('controls of tables are at least 24 pixels high', async () => {
  for (const name of ['report', 'sweep']) {
    const { page } = await open(name);
    const small = await page.locator('th button, td > a').evaluateAll((all) =>
      all.flatMap((one) => {
        const { width, height } = one.getBoundingClientRect();
        return height > 0 && (height < 24 || width < 24) ? [one.outerHTML] : [];
      }),
    );
    expect(small).toEqual([]);
    await page.close();
  }
});

test('a fill links to its explanation, which is on the page of orders', async () => {
  const { page } = await open('report');
  const links = page.locator('#fill-0-1 a');
  const addresses = await links.evaluateAll((all) => all.map((a) => a.getAttribute('href')));
  expect(addresses).toEqual(['explain.html#order-1', 'time-machine.html#seq=100']);
  await page.close();
  const { page: orders } = await open('orders', '#order-1');
  expect(await orders.locator('#order-1').isVisible()).toBe(true);
  expect(await orders.locator('#order-1').textContent()).toContain('cross up');
  await orders.close();
});

test('tabs of several runs follow the keyboard and links', async () => {
  const { page, problems } = await open('runs');
  const panels = page.locator('[role=tabpanel]');
  expect(await panels.count()).toBe(3);
  const shown = () => page.locator('[role=tabpanel]:visible').getAttribute('data-strategy');
  expect(await shown()).toBe('0');
  await page.focus('[role=tab][aria-selected=true]');
  await page.keyboard.press('ArrowRight');
  expect(await shown()).toBe('1');
  await page.evaluate(() => {
    location.hash = 'fill-2-3';
  });
  await page.waitForSelector('#fill-2-3', { state: 'visible' });
  expect(await shown()).toBe('2');
  const names = await page.locator('#comparison tbody tr td:first-child').allTextContents();
  expect(names).toEqual(['fast cross', 'slow cross', 'third cross']);
  expect(await page.locator('text=fast ms').count()).toBeGreaterThan(0);
  expect(problems).toEqual([]);
  await page.close();
});

test('the surface of a search zooms, and a cell opens its trial with the command', async () => {
  const { page, problems } = await open('sweep');
  const surface = page.locator('canvas.surface');
  await page.waitForSelector('canvas.surface[data-ready="true"]');
  expect(await surface.getAttribute('data-columns')).toBe('5');
  await page.click('[data-zooms="in"]');
  expect(Number(await surface.getAttribute('data-columns'))).toBeLessThan(5);
  await page.click('[data-zooms="all"]');
  // Scores are text on a canvas, which axe does not see.
  const contrast = async () => Number(await surface.getAttribute('data-contrast'));
  expect(await contrast()).toBeGreaterThanOrEqual(4.5);
  await page.click('[data-themes]');
  expect(await contrast()).toBeGreaterThanOrEqual(4.5);
  await surface.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  const read = page.locator('[data-reads="surface"]');
  expect(await read.textContent()).toBe('fast 1, slow 2: Sharpe −0.5, trial 1');
  await page.keyboard.press('Enter');
  const detail = page.locator('#trial-detail');
  await detail.waitFor({ state: 'visible' });
  expect(await detail.locator('pre').textContent()).toBe(
    'npx orrery backtest cross.ts --data data/x --param fast=1 --param slow=2 --param way=up',
  );
  const { width } = (await surface.boundingBox())!;
  await surface.click({ position: { x: width - 10, y: 10 } });
  // The address changes first, then the page.
  await detail.filter({ hasText: 'Trial 20' }).waitFor({ state: 'visible' });
  expect(await page.locator('#trial-20').isVisible()).toBe(true);
  expect(problems).toEqual([]);
  await page.close();
});

test('joined tests without a gain or a loss are drawn, with one label of the drawdown', async () => {
  const { page, problems } = await open('idle');
  const chart = page.locator('[data-draws="chain"]');
  expect(await chart.locator('canvas').count()).toBe(1);
  expect(await chart.locator('xpath=preceding-sibling::ul[1]/li').count()).toBe(3);
  expect(problems).toEqual([]);
  await page.close();
});

test.each([
  ['report', '#trades-0'],
  ['report', '#fills-0'],
  ['walk', '#windows-list'],
])('at 1280 px the page %s shows all columns of %s', async (name, id) => {
  const { page } = await open(name);
  await page.setViewportSize({ width: 1280, height: 800 });
  const hidden = await page.$eval(id, (table) => {
    const { scrollWidth, clientWidth } = table.parentElement!;
    return scrollWidth - clientWidth;
  });
  expect(hidden).toBe(0);
  await page.close();
});

test('on a phone the links of a header are as high as its buttons', async () => {
  const { page } = await open('orders');
  await page.setViewportSize({ width: 390, height: 800 });
  const heights = await page.$$eval('.tools > *', (all) =>
    all.map((one) => one.getBoundingClientRect().height),
  );
  expect(new Set(heights)).toEqual(new Set([44]));
  await page.close();
});

test('a page without several results has no link to their sections', async () => {
  const { page } = await open('lone');
  const links = await page.$$eval('a[href^="#"]', (all) => all.map((a) => a.getAttribute('href')));
  expect(links).toContain('#metrics');
  const missing = await page.evaluate(
    (names) => names.filter((name) => document.getElementById(name!.slice(1)) === null),
    links,
  );
  expect(missing).toEqual([]);
  await page.close();
});

test('orders are sorted by their number', async () => {
  const { page } = await open('report');
  await page.click('#fills-0 th button:text-is("Order")');
  const numbers = await page.$$eval('#fills-0 tbody tr td:nth-last-child(3)', (cells) =>
    cells.map((cell) => Number(cell.textContent.slice(1))),
  );
  expect(numbers).toEqual(Array.from({ length: 80 }, (_, i) => i + 1));
  await page.close();
});

test('a page of the dark theme is printed in light colours', async () => {
  const { page } = await open('report');
  await page.evaluate(() => {
    document.documentElement.dataset['theme'] = 'dark';
  });
  const colour = () => page.evaluate(() => getComputedStyle(document.body).color);
  const dark = await colour();
  await page.emulateMedia({ media: 'print' });
  expect([dark, await colour()]).toEqual(['rgb(231, 234, 239)', 'rgb(20, 25, 32)']);
  await page.close();
});

test('charts of the dark theme are printed in light colours, and fit the sheet', async () => {
  const { page, problems } = await open('report');
  await page.evaluate(() => {
    localStorage.clear();
  });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.reload();
  /** Whether canvases have the first colour of the series, of the light theme and of the dark. */
  const drawn = (selector: string) =>
    page.$$eval(selector, (canvases) => {
      const has = (colour: readonly number[]): boolean =>
        canvases.some((canvas) => {
          const { width, height } = canvas as HTMLCanvasElement;
          const context = (canvas as HTMLCanvasElement).getContext('2d')!;
          const bytes = width === 0 ? [] : context.getImageData(0, 0, width, height).data;
          for (let i = 0; i < bytes.length; i += 4) {
            if (colour.every((part, k) => bytes[i + k] === part)) return true;
          }
          return false;
        });
      return { light: has([0x21, 0x56, 0xc9, 255]), dark: has([0x6f, 0x9b, 0xff, 255]) };
    });
  const chart = '[data-draws="equity"] canvas';
  await expect.poll(() => drawn(chart)).toEqual({ light: false, dark: true });
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: 700, height: 1000 });
  expect(await drawn('[data-draws="equity"] > canvas')).toEqual({ light: true, dark: false });
  expect(await drawn('[data-draws="rolling"] canvas')).toEqual({ light: true, dark: false });
  const widths = await page.$$eval('.picture, .uplot canvas', (all) =>
    all.map((one) => one.clientWidth - one.closest('[data-draws]')!.clientWidth),
  );
  expect(widths.length).toBeGreaterThan(4);
  expect(widths.every((beyond) => beyond === 0)).toBe(true);
  expect(await page.locator('[data-draws="price-fills"] table').isVisible()).toBe(false);
  await page.emulateMedia({ media: 'screen' });
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  expect(await page.locator('.picture').count()).toBe(0);
  await expect.poll(() => drawn(chart)).toEqual({ light: false, dark: true });
  expect(problems).toEqual([]);
  await page.close();
});

test('a click on a fill beyond the rows of the table shows it', async () => {
  const { page, problems } = await open('many');
  const chart = page.locator('[data-draws="price-fills"][data-ready="true"]');
  await chart.scrollIntoViewIfNeeded();
  const detail = page.locator('[data-draws="fill"]');
  expect(await detail.isVisible()).toBe(false);
  const { width } = (await chart.boundingBox())!;
  await chart.click({ position: { x: width - 90, y: 100 } });
  expect(page.url()).toMatch(/#fill-0-\d+$/);
  await page.evaluate(() => {
    location.hash = 'fill-0-2001';
  });
  await detail.waitFor({ state: 'visible' });
  expect(await detail.textContent()).toMatch(
    /^Fill 2001, 2024-08-20 \d\d:\d\d:\d\d\.\d{3} UTC: buy 0\.02 at 61,8\d\d\.\d as maker, order #1: .*The table of fills has the first 2,000; all are in report\.json\.$/,
  );
  await page.evaluate(() => {
    location.hash = 'fill-0-2000';
  });
  await detail.waitFor({ state: 'hidden' });
  expect(await page.locator('#fill-0-2000').isVisible()).toBe(true);
  expect(problems).toEqual([]);
  await page.close();
});

test('a click on a fill shows its row again, also if a filter hides it', async () => {
  const { page } = await open('report');
  const row = page.locator('#fill-0-1');
  const chart = page.locator('[data-draws="price-fills"][data-ready="true"]');
  const filter = page.locator('[data-filters="fills-0"]');
  const clickFirst = async () => {
    await chart.scrollIntoViewIfNeeded();
    await chart.hover({ position: { x: 68, y: 100 } });
    await chart.click({ position: { x: 68, y: 100 } });
  };
  await clickFirst();
  await expect.poll(() => row.isVisible()).toBe(true);
  expect(page.url()).toMatch(/#fill-0-1$/);
  await filter.fill('sell');
  expect(await row.isVisible()).toBe(false);
  // Two clicks within half a second are a double click, which the chart does not report.
  await page.waitForTimeout(600);
  await clickFirst();
  await expect.poll(() => row.isVisible()).toBe(true);
  expect(await filter.inputValue()).toBe('');
  await page.close();
});

test('the pointer on the surface of a search does not write to its live region', async () => {
  const { page } = await open('sweep');
  const surface = page.locator('canvas.surface[data-ready="true"]');
  const shown = page.locator('[data-reads="surface"]');
  const live = page.locator('[data-reads^="surface"][role=status]');
  await surface.hover({ position: { x: 150, y: 100 } });
  await expect.poll(() => shown.textContent()).toContain('fast 1');
  expect(await live.textContent()).toBe('');
  await surface.press('ArrowRight');
  expect(await live.textContent()).toBe(await shown.textContent());
  await page.close();
});

test('high contrast leaves the keys of curves, the calendar and the chosen tab', async () => {
  const { page } = await open('runs');
  await page.emulateMedia({ forcedColors: 'active' });
  /** Backgrounds of the first five curves, and of a day with a return; borders of tabs. */
  const seen = await page.evaluate(() => {
    const of = (selector: string, property: 'backgroundColor' | 'borderBottomColor') => [
      ...new Set(
        [...document.querySelectorAll(selector)].map((one) => getComputedStyle(one)[property]),
      ),
    ];
    return [
      of('[data-strategy="0"] .readout i:not(.dashed)', 'backgroundColor').length > 3,
      of('[data-strategy="0"] .days td[title]', 'backgroundColor').length > 3,
      of('[role=tab]', 'borderBottomColor').length,
    ];
  });
  expect(seen).toEqual([true, true, 2]);
  await page.close();
});

test('long names of every place of a page do not widen it', async () => {
  for (const name of ['report', 'runs', 'sweep', 'walk']) {
    const { page } = await open(name);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.evaluate(() => {
      const places = 'h1, .lede, .verdict, dt, dd, caption, p, label, option, [role=tab], pre, li';
      for (const place of document.querySelectorAll(places)) {
        if (place.children.length === 0) place.textContent = 'x'.repeat(300);
      }
    });
    // Charts take the new width in the next frame.
    const beyond = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await expect.poll(beyond, { message: name }).toBe(0);
    await page.close();
  }
});

test('keys of the browser do not zoom the surface or choose a tab', async () => {
  const { page } = await open('sweep');
  const surface = page.locator('canvas.surface[data-ready="true"]');
  await surface.focus();
  const left = await page.evaluate(() => {
    const canvas = document.querySelector('canvas.surface')!;
    const press = (init: KeyboardEventInit): boolean =>
      canvas.dispatchEvent(new KeyboardEvent('keydown', { ...init, cancelable: true }));
    return [press({ key: '+', ctrlKey: true }), press({ key: 'ArrowLeft', altKey: true })];
  });
  expect(left).toEqual([true, true]);
  expect(await surface.getAttribute('data-columns')).toBe('5');
  await page.close();
  const { page: runs } = await open('runs');
  await runs.focus('[role=tab][aria-selected=true]');
  const shown = () => runs.locator('[role=tabpanel]:visible').getAttribute('data-strategy');
  await runs.keyboard.press('Control+ArrowRight');
  expect(await shown()).toBe('0');
  await runs.keyboard.press('End');
  expect(await shown()).toBe('2');
  await runs.close();
});
