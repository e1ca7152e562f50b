/** The account on the screen: history from the server, money moved, and files of both. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addWallet, button, fill, MAKER, Screen, SYMBOL, TRADER } from './screen.ts';

let screen: Screen;

beforeAll(async () => {
  screen = await Screen.start();
  const { server } = screen;
  await server.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await server.sim('deposit', { account: MAKER.address, amount: '10000000' });
  await server.sim('deposit', { account: TRADER.address, amount: '20000' });
}, 90_000);
afterAll(() => screen.close());

/** The file that a button saves. */
async function saved(page: Page, press: () => Promise<void>): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), press()]);
  return readFileSync(await file.path(), 'utf8');
}

const NOW = { ioc: true, postOnly: false, reduceOnly: false };

test('history of the account is there when the page opens, and each list is a file', async () => {
  const { server } = screen;
  for (let i = 0; i < 3; i++) {
    await server.sim('oracle', { symbol: SYMBOL, price: '60000' });
    await server.place(MAKER, { price: '60010', quantity: '-0.5' });
    await server.place(TRADER, { price: '60010', quantity: '0.5', flags: NOW });
    await server.sim('clock', { advanceMs: 60_000 });
  }
  await server.sim('oracle', { symbol: SYMBOL, price: '60000' });
  const { page, faults } = await screen.open();
  await addWallet(page, TRADER);
  await screen.show(page);
  await screen.logIn(page);
  await page.locator('#tab-fills').click();
  await expect.poll(() => page.locator('#panel-fills tbody tr').count()).toBe(3);
  const fills = await saved(page, () => button(page, 'CSV').click());
  expect(fills.split('\n')).toHaveLength(5);
  expect(fills).toContain('60010,0.5');
  // A fill of the feed is shown once, also after the list is read again.
  await server.place(MAKER, { price: '60020', quantity: '-0.25' });
  await fill(page, 'price', '60020');
  await fill(page, 'size', '0.25');
  await screen.sendTicket(page);
  await expect.poll(() => page.locator('#panel-fills tbody tr').count()).toBe(4);
  await page.locator('#tab-account').click();
  await expect.poll(() => page.locator('.equity path').count()).toBe(1);
  await expect.poll(() => page.locator('.rows').textContent()).toMatch(/Realised by 4 fills/);
  const equity = await saved(page, () => button(page, 'Equity as CSV').click());
  expect(equity.split('\n')[0]).toBe('time,equity');
  expect(equity.split('\n').length).toBeGreaterThan(3);
  await screen.picture(page, 'history');
  await page.locator('#tab-funding').click();
  await page.locator('#tab-fills').click();
  await page.waitForTimeout(300);
  expect(await page.locator('#panel-fills tbody tr').count()).toBe(4);
  // A restart of the server rebuilds it.
  await server.kill();
  await server.restart();
  await page.waitForSelector('.connection.ok');
  await page.reload();
  await page.waitForSelector('.connection.ok');
  await screen.logIn(page);
  await page.locator('#tab-fills').click();
  await expect.poll(() => page.locator('#panel-fills tbody tr').count()).toBe(4);
  expect(faults.filter((text) => !/WebSocket|Failed to load resource/.test(text))).toEqual([]);
  await page.close();
}, 60_000);

test('money moves to a subaccount and to the vault and back, and both are listed', async () => {
  const { page, faults } = await screen.open();
  await addWallet(page, TRADER);
  await screen.show(page);
  await screen.logIn(page);
  await page.locator('#tab-account').click();
  await page.fill('[aria-label="Amount in USD"]', '1500');
  await button(page, 'Transfer').click();
  await screen.done(page);
  await expect.poll(() => page.locator('.rows').textContent()).toContain('Cash of subaccount 1');
  const vault = page.locator('.row-form', { hasText: 'Vault' });
  await page.fill('[aria-label="Vault amount in USD"]', '2000');
  await vault.getByRole('button', { name: 'Deposit' }).click();
  await screen.done(page);
  await expect.poll(() => vault.textContent()).toMatch(/(?:1,999\.99|2,000\.00) USD at the last change, locked/);
  // Shares are locked: the refusal is shown in the words of the server.
  await page.fill('[aria-label="Vault amount in USD"]', '10');
  await vault.getByRole('button', { name: 'Withdraw' }).click();
  await expect
    .poll(() => page.locator('.outbox li').first().textContent())
    .toContain('Vault shares are locked until lockupEndsAt');
  await page.locator('.outbox li').first().getByRole('button').click();
  await page.locator('#tab-transfers').click();
  await expect
    .poll(() => page.locator('#panel-transfers').textContent())
    .toMatch(/clsDeposit.*transferOut/s);
  const file = await saved(page, () => button(page, 'CSV').click());
  expect(file).toContain('clsDeposit');
  expect(faults.filter((text) => !/status of 400/.test(text))).toEqual([]);
  await page.close();
}, 60_000);
