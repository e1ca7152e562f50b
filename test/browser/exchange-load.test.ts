/**
 * Load on the screen: 10,000 open orders in a table, and a thousand updates a second of book, trades
 * and these orders. Times are processor times of the page, which other work of a machine changes
 * less. `ORRERY_FRAMES=1` asks for 50 ms on an idle machine, and checks times between frames too.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { flood, type Flooded } from './flood.ts';
import { longestTask } from './longest-task.ts';
import { button, Screen, SYMBOL, walletOf } from './screen.ts';

const isMeasured = process.env['ORRERY_FRAMES'] === '1';
/** Other tests use the same cores, except for a measurement. */
const LONG_TASK_MS = isMeasured ? 50 : 150;
const FRAME_MS = 33;
const ORDERS = 10_000;

let screen: Screen;
beforeAll(async () => {
  screen = await Screen.start();
  const { server } = screen;
  await server.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await server.sim('deposit', { account: walletOf(7).address, amount: '1000000' });
}, 90_000);
afterAll(() => screen.close());

/** Levels of a side that are wholly in the pane; each is a target of at least 24 pixels. */
async function bothSidesAreSeen(page: Page): Promise<void> {
  const seen = (): Promise<readonly [bids: number, asks: number]> =>
    page.evaluate(() => {
      const pane = document.querySelector('.pane.book')?.getBoundingClientRect();
      const count = (of: string): number =>
        [...document.querySelectorAll(`.levels .${of} .level`)].filter((level) => {
          const { top, bottom, height } = level.getBoundingClientRect();
          return height >= 24 && top >= (pane?.top ?? 0) && bottom <= (pane?.bottom ?? 0);
        }).length;
      return [count('gain'), count('loss')] as const;
    });
  for (const [width, height, levels] of [
    [1440, 1400, 12],
    [390, 844, 12],
    [1280, 720, 6],
  ] as const) {
    await page.setViewportSize({ width, height });
    await expect.poll(seen, { message: String(width) }).toEqual([levels, levels]);
  }
}

/** On a phone, the focus is never under the buttons that open the ticket. */
async function focusIsSeen(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  const levels = page.locator('.level');
  // With those of the former size, the last keys would reach the buttons themselves.
  await expect.poll(() => levels.count()).toBe(24);
  await levels.first().focus();
  for (let i = 0; i < 23; i++) {
    await page.keyboard.press('Tab');
    const below = () =>
      page.evaluate(() => {
        const buttons = document.querySelector('.sheet-buttons')?.getBoundingClientRect();
        const focused = document.activeElement?.getBoundingClientRect();
        return (focused?.bottom ?? NaN) - (buttons?.top ?? NaN);
      });
    // The page scrolls to the focus after the key.
    await expect.poll(below, { message: `after ${String(i + 1)} keys` }).toBeLessThanOrEqual(0);
  }
}

test('10,000 rows and a thousand updates a second leave no long task', async () => {
  const { page } = await screen.open();
  const account = walletOf(7).address.toLowerCase();
  await page.addInitScript(flood, [SYMBOL, account, ORDERS] as const);
  await page.goto(`${screen.server.url}/ui#market=${SYMBOL}`);
  await expect.poll(() => page.locator('.levels').textContent()).toContain('59,999.0');
  await focusIsSeen(page);
  await bothSidesAreSeen(page);
  await page.locator('#tab-orders').click();
  await screen.logInWithKey(page, 7);
  await expect.poll(() => screen.openCount(page)).toBe(String(ORDERS));
  await button(page, /^Show all/).click();
  await page.waitForTimeout(500);
  await page.evaluate(() => {
    const frames: number[] = [];
    let last = performance.now();
    const next = (): void => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    Object.assign(globalThis, { frames });
  });
  // Work of others displaces caches, so a slow span of time is measured again.
  let longest = Infinity;
  for (let i = 0; i < 3 && longest > LONG_TASK_MS; i++) {
    longest = await longestTask(page, () => page.waitForTimeout(3000));
  }
  // Sorting, filtering and the end of the list, while the updates go on.
  const used = await longestTask(page, async () => {
    await button(page, 'Price').click();
    await page.fill('[aria-label="Filter Open orders"]', 'limit');
    await page.locator('.more').scrollIntoViewIfNeeded();
    await page.locator(`#panel-orders tr[aria-rowindex="${String(ORDERS + 1)}"]`).waitFor();
  });
  const { perSecond, p95 } = await page.evaluate(() => {
    const { flooded, frames } = globalThis as unknown as { flooded: Flooded; frames: number[] };
    const sorted = [...frames].sort((a, b) => a - b);
    return {
      perSecond: (flooded.sent / (performance.now() - flooded.beganMs)) * 1000,
      p95: sorted[Math.floor(sorted.length * 0.95)] ?? Infinity,
    };
  });
  console.log(
    `screen: ${String(ORDERS)} orders, ${perSecond.toFixed(0)} updates/s, ` +
      `longest task ${longest.toFixed(1)} ms, ${used.toFixed(1)} ms sorted and filtered, ` +
      `p95 frame ${p95.toFixed(1)} ms`,
  );
  expect(perSecond).toBeGreaterThan(isMeasured ? 900 : 300);
  expect(longest).toBeLessThanOrEqual(LONG_TASK_MS);
  expect(used).toBeLessThanOrEqual(LONG_TASK_MS);
  if (isMeasured) expect(p95).toBeLessThanOrEqual(FRAME_MS);
  await page.close();
}, 60_000);
