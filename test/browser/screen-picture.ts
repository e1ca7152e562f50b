/** The screen of docs/SCREEN.md: 70 minutes of trades, a position, an order, a bracket. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { addWallet, button, fill, SYMBOL, walletOf } from './screen.ts';
import { ServerProcess, SIM } from './server-process.ts';

const [TRADER, MAKER, TAKER] = [walletOf(1), walletOf(2), walletOf(3)];
const START = 'start: 2024-01-01T17:05:00Z\n';
const MINUTES = 70;
const IOC = { ioc: true, postOnly: false, reduceOnly: false };

/** Numbers below `limit` of a fixed sequence. */
function sequence(): (limit: number) => number {
  let state = 7;
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
}

/** A price that wanders, with two trades a minute. */
async function trade(server: ServerProcess): Promise<void> {
  const draw = sequence();
  let price = 60_000;
  for (let minute = 0; minute < MINUTES; minute += 1) {
    await server.sim('oracle', { symbol: SYMBOL, price: String(price) });
    for (let part = 0; part < 2; part += 1) {
      const sign = draw(2) === 0 ? '' : '-';
      const size = `0.${String(10 + draw(80))}`;
      const terms = { price: String(price), quantity: `${sign}${size}` };
      await server.place(MAKER, terms);
      const taken = sign === '' ? `-${size}` : size;
      await server.place(TAKER, { ...terms, quantity: taken, flags: IOC });
      price += draw(61) - 28;
      await server.sim('clock', { advanceMs: 30_000 });
    }
  }
  await server.sim('oracle', { symbol: SYMBOL, price: String(price) });
  for (let level = 1; level <= 14; level += 1) {
    for (const side of [-1, 1]) {
      const away = side * (level * 7 + draw(5));
      const size = `${side > 0 ? '-' : ''}${String(draw(3))}.${String(100 + draw(900))}`;
      await server.place(MAKER, { price: String(price + away), quantity: size });
    }
  }
}

/** With a position, a resting order and a bracket that is not sent yet. */
async function plan(page: Page): Promise<void> {
  const done = page.locator('.outbox li', { hasText: '✓ done' }).getByRole('button');
  const [bid = ''] = await page.locator('.levels th.gain').allTextContents();
  const best = Number(/^[\d,]+/.exec(bid)?.[0].replaceAll(',', ''));
  await page.selectOption('.ticket select', 'market');
  await fill(page, 'size', '0.85');
  await page.locator('#submit').click();
  await done.click();
  await page.selectOption('.ticket select', 'limit');
  await fill(page, 'price', String(best - 80));
  await fill(page, 'size', '0.2');
  await page.locator('#submit').click();
  await done.click();
  await fill(page, 'price', String(best - 10));
  await fill(page, 'size', '0.2');
  await page.locator('label.check', { hasText: 'Bracket' }).locator('input').check();
  await fill(page, 'tp', String(best + 170));
  await fill(page, 'sl', String(best - 170));
}

/** The page; `end` stops its server. */
export async function showScreen(
  context: BrowserContext,
): Promise<{ page: Page; end: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'orrery-picture-'));
  const config = join(folder, 'exchange.yaml');
  writeFileSync(config, START);
  const server = await ServerProcess.start(['--config', config]);
  for (const { address } of [MAKER, TAKER]) {
    await server.sim('deposit', { account: address, amount: '10000000' });
  }
  await server.sim('deposit', { account: TRADER.address, amount: '20000' });
  await trade(server);
  const page = await context.newPage();
  await page.setViewportSize({ width: 1360, height: 860 });
  await page.emulateMedia({ colorScheme: 'dark' });
  // The loader of this script names functions by a helper that the page does not have.
  await page.addInitScript('globalThis.__name = (one) => one');
  await addWallet(page, TRADER);
  await page.goto(`${server.url}/ui#market=${SYMBOL}`);
  await page.fill('.clock input[type=password]', SIM);
  await button(page, 'Test controls').click();
  await button(page, 'Log in').first().click();
  await button(page, 'Connect a wallet').click();
  await page.waitForSelector('dialog', { state: 'detached' });
  await plan(page);
  const end = async (): Promise<void> => {
    await page.close();
    await server.remove();
    rmSync(folder, { recursive: true });
  };
  return { page, end };
}
