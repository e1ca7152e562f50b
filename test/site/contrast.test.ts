/** Contrast of text and code on the documentation site that `npm run docs` has built. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, type OpenBrowser } from '../browser/chromium.ts';
import { violations } from '../browser/violations.ts';

const SITE = fileURLToPath(new URL('../../reports/site', import.meta.url));
const RULES = ['color-contrast', 'link-in-text-block'];
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

if (!existsSync(SITE)) throw new Error('the site is not built; `npm run test:site` builds it');

/** Each guide and folder of examples, and one page of each further kind. */
const PAGES = [
  'index.html',
  'CONTRIBUTING.html',
  ...['docs', 'examples'].flatMap((folder) =>
    readdirSync(join(SITE, folder))
      .filter((name) => name.endsWith('.html'))
      .map((name) => `${folder}/${name}`),
  ),
  'docs/decisions/index.html',
  'reference/index.html',
];

let browser: OpenBrowser;
let server: Server;

const listen = (made: Server): Promise<void> =>
  new Promise((resolve) => {
    made.listen(0, '127.0.0.1', resolve);
  });

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    const file = join(SITE, decodeURIComponent(new URL(url, 'http://site').pathname));
    if (!file.startsWith(SITE) || !existsSync(file)) response.writeHead(404).end();
    else
      response
        .writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
        .end(readFileSync(file));
  });
  [browser] = await Promise.all([openBrowser(), listen(server)]);
});
afterAll(async () => {
  await browser.close();
  server.close();
});

async function open(path: string, colorScheme: 'light' | 'dark'): Promise<Page> {
  const page = await browser.context.newPage();
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1280, height: 800 });
  const { port } = server.address() as AddressInfo;
  await page.goto(`http://127.0.0.1:${String(port)}/${path}`, { waitUntil: 'networkidle' });
  return page;
}

test.each(PAGES)('text and code of %s can be read, light and dark', async (path) => {
  for (const scheme of ['light', 'dark'] as const) {
    const page = await open(path, scheme);
    expect(await violations(page, RULES), scheme).toEqual([]);
    await page.close();
  }
});

test('the results of a search can be read, light and dark', async () => {
  for (const scheme of ['light', 'dark'] as const) {
    const page = await open('index.html', scheme);
    await page.keyboard.press('/');
    await page.locator('#localsearch-input').fill('order');
    await page.waitForSelector('.VPLocalSearchBox .result');
    expect(await violations(page, RULES), scheme).toEqual([]);
    await page.close();
  }
});

test('axe finds code of little contrast', async () => {
  const page = await open('index.html', 'light');
  await page.evaluate(() => {
    const [part] = document.querySelectorAll<HTMLElement>('.vp-code span[style]');
    part!.style.color = '#999';
  });
  expect((await violations(page, RULES)).join()).toContain('color-contrast');
  await page.close();
});

/** Axe leaves text of drawings out. Ratios are of WCAG 2.2. */
const labels = (page: Page) =>
  page.locator('.diagram').evaluateAll((diagrams) => {
    const numbers = (text: string): number[] => (text.match(/[\d.]+/g) ?? []).map(Number);
    const luminance = (text: string): number => {
      const [r = 0, g = 0, b = 0] = numbers(text).map((part) => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const isOpaque = (colour: string): boolean => (numbers(colour)[3] ?? 1) === 1;
    /** The opaque colour behind a label: of its box, or of the page. */
    const behind = (label: Element): string => {
      const box = label.closest('.node')?.querySelector('rect, path, circle');
      if (box != null) return getComputedStyle(box).fill;
      const colour = getComputedStyle(label).backgroundColor;
      return isOpaque(colour) ? colour : getComputedStyle(document.body).backgroundColor;
    };
    return diagrams.flatMap((diagram) => {
      const svg = diagram.querySelector('svg')!;
      const size = (16 * svg.clientWidth) / svg.viewBox.baseVal.width;
      return [...diagram.querySelectorAll('.nodeLabel p, .edgeLabel p')].map((label) => {
        const [a, b] = [getComputedStyle(label).color, behind(label)].map(luminance);
        const [dark = 0, light = 0] = [a!, b!].sort((x, y) => x - y);
        return { text: label.textContent, size, contrast: (light + 0.05) / (dark + 0.05) };
      });
    });
  });

test.each(['docs/ARCHITECTURE.html', 'docs/ORDER-STATES.html'])(
  'the diagram of %s can be read, and does not widen a phone',
  async (path) => {
    for (const scheme of ['light', 'dark'] as const) {
      const page = await open(path, scheme);
      await page.setViewportSize({ width: 360, height: 800 });
      await page.waitForSelector('.diagram svg');
      const found = await labels(page);
      expect(found.length).toBeGreaterThan(10);
      expect(found.filter(({ size, contrast }) => size < 11 || contrast < 4.5)).toEqual([]);
      const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      expect(widths[0]).toBe(widths[1]);
      await page.close();
    }
  },
);

test('the source of a diagram that is not drawn does not widen a phone', async () => {
  const page = await browser.context.newPage();
  await page.route(/mermaid/, (route) => route.abort());
  await page.setViewportSize({ width: 360, height: 800 });
  const { port } = server.address() as AddressInfo;
  await page.goto(`http://127.0.0.1:${String(port)}/docs/ORDER-STATES.html`);
  await page.waitForSelector('main pre');
  expect(await page.locator('.diagram').count()).toBe(0);
  const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(widths[0]).toBe(widths[1]);
  await page.close();
});
