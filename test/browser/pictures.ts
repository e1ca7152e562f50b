/**
 * Draws the pictures of the pages in docs/pictures: ten states of the scenario `cascade` in the
 * time machine, and the screen.
 *
 *     npm run pictures
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { findJournal } from '../../src/cli/time-machine/journal-source.ts';
import { openBrowser } from './chromium.ts';
import { buildPage, Folder, openPage } from './machine-page.ts';
import { showScreen } from './screen-picture.ts';

const inRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The first liquidation of the cascade. */
const FALL = 461;
const AT_FALL = `#chain[data-seq="${String(FALL)}"]`;
const QUALITY = 82;

interface State {
  readonly name: string;
  readonly dark?: true;
  readonly width?: number;
  readonly show: (page: Page) => Promise<unknown>;
}

const press = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name }).first().click();

const tab = (page: Page, name: string): Promise<void> => page.locator(`#tab-${name}`).click();

const STATES: readonly State[] = [
  { name: 'cascade', show: (page) => tab(page, 'events') },
  { name: 'account', show: (page) => tab(page, 'account') },
  {
    name: 'order',
    show: async (page) => {
      await page.locator('.lines button.link').first().click();
      await page.waitForSelector('.life li');
    },
  },
  { name: 'ledger', show: (page) => tab(page, 'ledger') },
  {
    name: 'fork',
    show: async (page) => {
      await press(page, /1 % more collateral/);
      await page.waitForSelector('#comparison tr');
    },
  },
  {
    name: 'parameter',
    dark: true,
    show: async (page) => {
      await tab(page, 'fork');
      await page.selectOption('.fork select', 'parameter');
      await page.waitForSelector('#parameter-value');
      await page.locator('.fork select').nth(2).selectOption('takerFee');
      await page.fill('#parameter-value', '0.002');
      await press(page, 'Run both');
      await page.waitForSelector('#comparison tr');
    },
  },
  {
    name: 'certainty',
    show: async (page) => {
      await press(page, 'When was it certain?');
      await page.getByText(/certain from/).waitFor();
    },
  },
  {
    name: 'breakpoint',
    dark: true,
    show: async (page) => {
      await page.keyboard.press('b');
      await page.fill('#expression', 'events.some((e) => e.kind == "liquidationStep")');
      await page.keyboard.press('Enter');
      await page.getByText(/[1-9] hits/).waitFor();
      await page.keyboard.press('Home');
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.keyboard.press(']');
      await page.waitForSelector(AT_FALL);
    },
  },
  { name: 'request', show: (page) => tab(page, 'request') },
  { name: 'narrow', width: 390, show: (page) => tab(page, 'why') },
];

async function take(page: Page, name: string): Promise<void> {
  // Charts are drawn after the state.
  await page.waitForTimeout(700);
  const session = await page.context().newCDPSession(page);
  const picture = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: QUALITY,
  });
  writeFileSync(inRoot(`docs/pictures/${name}.webp`), picture.data, 'base64');
  console.log(`docs/pictures/${name}.webp`);
}

await buildPage();
const folder = new Folder();
const browser = await openBrowser();
const { journal } = await findJournal(inRoot('scenarios/cascade.yaml'));
const address = await folder.page('cascade', journal);
for (const { name, dark, width = 1280, show } of STATES) {
  const { page, faults } = await openPage(browser.context, address);
  await page.setViewportSize({ width, height: 860 });
  await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
  await page.goto(`${address}#seq=${String(FALL)}&sel=account:6`);
  await page.waitForSelector(AT_FALL);
  await show(page);
  await take(page, `time-machine-${name}`);
  if (faults.length > 0) throw new Error(`${name}: ${faults.join(', ')}`);
  await page.close();
}
const screen = await showScreen(browser.context);
await take(screen.page, 'screen');
await screen.end();
await browser.close();
folder.remove();
