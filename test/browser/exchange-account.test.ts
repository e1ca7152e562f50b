/** The account on the screen: history from the server, money moved, and files of both. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import { addWallet, button, fill, MAKER, Screen, SYMBOL, TRADER, walletOf } from './screen.ts';
import { violations } from './violations.ts';

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

test('a delegate whose right to the shown subaccount ends sees that, and the page goes on', async () => {
  const { server } = screen;
  const owner = new HttpMatcherClient({ url: server.url, signer: MAKER });
  const account = MAKER.address;
  const delegate = (subaccountIndex: number, delegated: boolean) =>
    owner.send('updateDelegates', {
      ...{ account, delegate: walletOf(5).address, subaccountIndex, delegated },
      expiresAt: 9_007_199_254_740_991,
    });
  await server.sim('deposit', { account, subaccountIndex: 1, amount: '10' });
  for (const index of [0, 1]) await delegate(index, true);
  const { page } = await screen.open();
  await screen.show(page);
  await screen.logInWithKey(page, 5, account);
  const notice = page.locator('.notice', { hasText: /^Subaccount 0 of 0x\w+ cannot be read/ });
  expect(await notice.count()).toBe(0);
  await delegate(0, false);
  await expect.poll(() => notice.count()).toBe(1);
  await server.kill();
  await page.waitForSelector('.connection:not(.ok)');
  await server.restart();
  await page.waitForSelector('.connection.ok');
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
  await expect
    .poll(() => vault.textContent())
    .toMatch(/(?:1,999\.99|2,000\.00) USD at the last change, locked/);
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

test('two of three sign: each sees the fields, and the quorum sends', async () => {
  const owner = walletOf(6).address.toLowerCase();
  const others = [walletOf(4), walletOf(5)].map(({ address }) => address.toLowerCase());
  await screen.server.sim('deposit', { account: owner, amount: '5000' });
  const { page, faults } = await screen.open();
  await screen.show(page);
  await screen.logInWithKey(page, 6);
  await page.locator('#tab-signers').click();
  await page.fill('#signers-quorum', '2');
  expect(await page.locator('.fault-text').textContent()).toContain('1 to the number of signers');
  await page.fill('#signers-text', others.join('\n'));
  await expect.poll(() => page.locator('.notice.warn').last().textContent()).toMatch(/loses its/);
  await page.fill('#signers-text', [owner, ...others].join('\n'));
  await button(page, 'Change signers').click();
  await screen.done(page);
  await expect.poll(() => page.locator('#panel-signers').textContent()).toContain('2 of 3');
  // One signature is not enough: the request waits for another one.
  await page.locator('#tab-account').click();
  await page.fill('[aria-label="Amount in USD"]', '700');
  await button(page, 'Transfer').click();
  await expect
    .poll(() => page.locator('.outbox li').first().textContent())
    .toContain('needs signatures');
  await page.locator('.outbox li').first().getByRole('button').click();
  await page.locator('#tab-signers').click();
  const request = page.locator('.request');
  await expect.poll(() => request.textContent()).toContain('1 of 2 signatures');
  expect(await request.textContent()).toContain('amount700');
  const text = await request.locator('textarea').inputValue();
  const link = await request.locator('a').getAttribute('href');
  expect(await violations(page)).toEqual([]);
  await screen.picture(page, 'signers');
  await page.setViewportSize({ width: 390, height: 860 });
  expect(await violations(page)).toEqual([]);
  await screen.picture(page, 'signers-390');
  // The second signer takes the link, sees the fields, signs and sends.
  const { page: second, faults: more } = await screen.open();
  await second.goto(screen.server.url + (link ?? ''));
  await expect
    .poll(() => second.locator('.request').textContent())
    .toContain(`Log in for ${owner}`);
  await screen.logInWithKey(second, 4, owner);
  await expect.poll(() => second.locator('.request').textContent()).toContain('1 of 2 signatures');
  await button(second, 'Sign').click();
  await expect.poll(() => second.locator('.request').textContent()).toContain('2 of 2 signatures');
  await button(second, 'Send').click();
  await screen.done(second);
  await second.locator('#tab-account').click();
  await expect.poll(() => second.locator('.rows').textContent()).toMatch(/subaccount 1700\.00/);
  // A text that was cut or changed is refused, and one of another account cannot be signed.
  await page.setViewportSize({ width: 1360, height: 860 });
  await button(page, 'Discard').click();
  for (const [given, refusal] of [
    [text.slice(0, 100), /cut off or changed/],
    ['hello', /cut off or changed|not a request/],
    [
      `orrery-request:${btoa('{"endpoint":"__proto__","parts":[{}]}').replaceAll('=', '')}`,
      /not a/,
    ],
  ] as const) {
    await page.fill('#handed-over', given);
    await button(page, 'Take it').click();
    await expect
      .poll(() => page.locator('#panel-signers .notice').first().textContent())
      .toMatch(refusal);
  }
  // The used request is refused by the exchange, once it is complete again.
  await page.fill('#handed-over', text);
  await button(page, 'Take it').click();
  await expect.poll(() => page.locator('.request').textContent()).toContain('1 of 2 signatures');
  await button(page, 'Discard').click();
  // A delegate needs the quorum, then trades alone.
  await page.fill('#new-delegate', TRADER.address);
  await button(page, 'Add').click();
  await expect.poll(() => page.locator('.request').count()).toBe(1);
  const delegation = await page.locator('.request textarea').inputValue();
  await second.locator('#tab-signers').click();
  await second.fill('#handed-over', delegation);
  await button(second, 'Take it').click();
  await button(second, 'Sign').click();
  await button(second, 'Send').click();
  await screen.done(second);
  await expect
    .poll(() => second.locator('.delegates').textContent())
    .toContain(TRADER.address.toLowerCase());
  const { page: third } = await screen.open();
  await screen.show(third);
  await screen.logInWithKey(third, 1, owner);
  await fill(third, 'price', '59000');
  await fill(third, 'size', '0.01');
  await screen.sendTicket(third);
  await expect.poll(() => screen.openCount(third)).toBe('1');
  expect([...faults, ...more].filter((one) => !/status of 40[0139]/.test(one))).toEqual([]);
  for (const one of [page, second, third]) await one.close();
}, 90_000);
