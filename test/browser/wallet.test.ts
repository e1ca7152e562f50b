/** A wallet extension on the screen: one that is locked, refuses, or does not answer. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addWallet, button, fill, Screen, SYMBOL, TRADER } from './screen.ts';

const SIGN_ORDER = 'eth_signTypedData_v4';
/** Some wallets throw objects that are no errors. */
const REFUSED = { code: 4001, message: 'User rejected the request.' };

let screen: Screen;

beforeAll(async () => {
  screen = await Screen.start();
  const { server } = screen;
  await server.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await server.sim('deposit', { account: TRADER.address, amount: '10000' });
}, 90_000);
afterAll(() => screen.close());

async function openWithWallet(): Promise<Page> {
  const { page } = await screen.open();
  await addWallet(page, TRADER);
  await screen.show(page);
  return page;
}

const setWallet = (page: Page, state: object): Promise<unknown> =>
  page.evaluate((changed) => {
    const { walletState } = globalThis as unknown as { walletState: object };
    Object.assign(walletState, changed);
  }, state);

async function connect(page: Page): Promise<void> {
  await button(page, 'Log in').first().click();
  await button(page, 'Connect a wallet').click();
}

const fault = (page: Page) => page.locator('#login .fault-text').textContent();

async function order(page: Page): Promise<void> {
  await fill(page, 'price', '59000');
  await fill(page, 'size', '0.01');
  await page.locator('#submit').click();
}

/** Sends an event of the wallet to the page. */
const emit = (page: Page, value: unknown): Promise<void> =>
  page.evaluate((accounts) => {
    const { emitOfWallet } = globalThis as unknown as {
      emitOfWallet: (event: string, value: unknown) => void;
    };
    emitOfWallet('accountsChanged', accounts);
  }, value);

test('a locked wallet and a refusal that is no error have their reasons', async () => {
  const page = await openWithWallet();
  for (const accounts of [[], null]) {
    await setWallet(page, { accounts });
    await connect(page);
    await expect.poll(() => fault(page)).toContain('unlock it');
    await button(page, 'Close').click();
  }
  await button(page, 'Log in').first().click();
  await setWallet(page, {
    accounts: [TRADER.address],
    thrown: { personal_sign: REFUSED, [SIGN_ORDER]: REFUSED },
  });
  await button(page, 'Connect a wallet').click();
  await expect.poll(() => fault(page)).toBe(REFUSED.message);
  await setWallet(page, { thrown: { [SIGN_ORDER]: REFUSED } });
  await button(page, 'Connect a wallet').click();
  await page.waitForSelector('dialog', { state: 'detached' });
  await order(page);
  await expect.poll(() => page.locator('.outbox').textContent()).toContain(REFUSED.message);
  await emit(page, null);
  await expect.poll(() => fault(page)).toContain('locked');
  await page.close();
});

test('a login that a wallet does not answer ends with its dialog', async () => {
  const page = await openWithWallet();
  for (const method of ['eth_requestAccounts', 'personal_sign']) {
    await setWallet(page, { silent: [method] });
    await connect(page);
    await expect
      .poll(() => page.locator('#login [role=status]').count(), { message: method })
      .toBe(1);
    await button(page, 'Close').click();
  }
  await setWallet(page, { silent: [] });
  await screen.logIn(page);
  await page.close();
});

test('an order that a wallet does not sign is withdrawn, and the ticket is free', async () => {
  const page = await openWithWallet();
  await screen.logIn(page);
  await setWallet(page, { silent: [SIGN_ORDER] });
  await order(page);
  await button(page, /^Withdraw Buy/).click();
  await expect.poll(() => page.locator('.outbox').textContent()).toContain('withdrawn before');
  await setWallet(page, { silent: [] });
  await order(page);
  await expect.poll(() => page.locator('.outbox').textContent()).toContain('✓ done');
  expect(await screen.openCount(page)).toBe('1');
  await page.close();
});

test('a chain that the wallet does not know is named, with what to do', async () => {
  const page = await openWithWallet();
  await screen.logIn(page);
  const unknown = { code: 4902, message: 'Unrecognized chain ID "0x539".' };
  const nested = { code: -32603, message: 'Internal error', data: { originalError: unknown } };
  for (const error of [unknown, nested]) {
    await setWallet(page, { chain: '0x1', thrown: { wallet_switchEthereumChain: error } });
    await order(page);
    await expect
      .poll(() => page.locator('.outbox').textContent())
      .toMatch(/has no network of this chain; this exchange needs chain 1337\. Add one/);
    await button(page, /^Dismiss Buy/).click();
  }
  await setWallet(page, { thrown: { wallet_switchEthereumChain: REFUSED } });
  await order(page);
  await expect
    .poll(() => page.locator('.outbox').textContent())
    .toContain(`is on chain 1; this exchange needs chain 1337: ${REFUSED.message}`);
  await page.close();
});
