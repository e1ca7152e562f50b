/** Large figures in the time machine: sizes of the book stand apart, and axes have room. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from '../time-machine/journals.ts';
import { openBrowser, type OpenBrowser } from './chromium.ts';
import { buildPage, Folder, openPage } from './machine-page.ts';

const folder = new Folder();
let browser: OpenBrowser;

beforeAll(async () => {
  await buildPage();
  browser = await openBrowser();
}, 120_000);
afterAll(async () => {
  await browser.close();
  folder.remove();
});

/** Orders of hundreds of millions of lots, in an account of a trillion. */
function largeWorld(): Uint8Array {
  const world = new World({ terms: { maxPrice: '3000', maxQuantity: '200000000' } });
  const maker = world.user(1e12);
  world.price(1000);
  for (let i = 1; i < 4; i += 1) {
    world.order(maker, 123_456_789, 1000 - i);
    world.order(maker, -123_456_789, 1000 + i);
  }
  return world.bytes();
}

test('sizes of the book do not touch, and the axis of equity has its labels', async () => {
  const { page, faults } = await openPage(
    browser.context,
    await folder.page('large', largeWorld()),
  );
  await page.setViewportSize({ width: 1280, height: 900 });
  const rows = page.locator('.ladder li');
  await expect.poll(() => rows.count()).toBe(6);
  expect(await rows.first().textContent()).toContain('123\u202fM');
  const gaps = await rows.evaluateAll((all) =>
    all.flatMap((row) => {
      const edges = [...row.children].map((cell) => {
        const text = document.createRange();
        text.selectNodeContents(cell);
        return text.getBoundingClientRect();
      });
      return edges.slice(1).map(({ left }, i) => left - (edges[i]?.right ?? 0));
    }),
  );
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(4);
  // 15 characters, such as 100,000,000,000, of 11 px.
  const axis = () =>
    page.locator('.chart.account .uplot').evaluate((plot) => {
      const over = plot.querySelector('.u-over')!.getBoundingClientRect();
      return plot.getBoundingClientRect().right - over.right;
    });
  await expect.poll(axis).toBeGreaterThan(100);
  expect(faults).toEqual([]);
  await page.close();
});
