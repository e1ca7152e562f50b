/**
 * The screen of `orrery serve` in Chromium, against a server of its own: a wallet logs in, places
 * each type of order, is liquidated, operates the exchange, and loses its connection.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ICON_URL } from '../../src/design/icon.ts';
import { addWallet, button, fill, MAKER, Screen, SYMBOL, TRADER, walletOf } from './screen.ts';
import { OPERATOR, SIM } from './server-process.ts';
import { violations } from './violations.ts';

const MAX_PAGE_BYTES = 350_000;

/** With the simulation token, the page asks whether there is a replay; 400 says that there is none. */
const isUnexpected = (fault: string): boolean => !fault.includes('status of 400');

let screen: Screen;

beforeAll(async () => {
  screen = await Screen.start();
  const { server } = screen;
  await server.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await server.sim('deposit', { account: MAKER.address, amount: '10000000' });
}, 90_000);
afterAll(() => screen.close());

test('the page is small, live and read without a login, and loads nothing else', async () => {
  expect(screen.size).toBeLessThan(MAX_PAGE_BYTES);
  await screen.server.place(MAKER, { price: '59900', quantity: '3' });
  await screen.server.place(MAKER, { price: '60100', quantity: '-3' });
  const { page, faults } = await screen.open();
  await screen.show(page);
  await expect.poll(() => page.locator('.levels').textContent()).toContain('60,100.0');
  expect(await page.getAttribute('link[rel=icon]', 'href')).toBe(ICON_URL);
  await screen.server.place(MAKER, { price: '60100.5', quantity: '-1' });
  await expect.poll(() => page.locator('.levels').textContent()).toContain('60,100.5');
  await screen.server.place(MAKER, {
    price: '60100.5',
    quantity: '0.25',
    flags: { ioc: true, postOnly: false, reduceOnly: false },
  });
  await screen.server.sim('clock', { advanceMs: 1 });
  await button(page, 'Trades').click();
  await page.keyboard.press('m');
  await page.waitForSelector('#market-list[open]');
  expect(await page.locator('#market-list').textContent()).toContain('ETH-USD-PERP');
  // The filter has the focus, and Enter chooses the first market that it leaves.
  await page.keyboard.type('eth-');
  await expect.poll(() => page.locator('#market-list tbody tr').count()).toBe(1);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.market-bar h1').textContent()).toContain('ETH-USD-PERP');
  await page.keyboard.press('m');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('#market-list').count()).toBe(0);
  expect(faults).toEqual([]);
  await page.close();
});

test('the page of the API has enough contrast, light and dark', async () => {
  const { page, faults } = await screen.open();
  await page.goto(`${screen.server.url}/docs`);
  await page.locator('.opblock').first().waitFor();
  expect(await page.getAttribute('link[rel=icon]', 'href')).toBe(ICON_URL);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await expect
      .poll(() => page.evaluate(() => document.documentElement.classList.contains('dark-mode')))
      .toBe(colorScheme === 'dark');
    // Colours of controls change over a time.
    await expect
      .poll(() => violations(page, ['color-contrast']), { message: colorScheme })
      .toEqual([]);
  }
  expect(faults).toEqual([]);
  await page.close();
});

test('the address names the market, and a notice one that is not listed', async () => {
  const { page, faults } = await screen.open();
  await page.goto(`${screen.server.url}/ui#market=NOPE`);
  const name = page.locator('.market-bar h1');
  const notices = page.locator('.notices');
  await expect
    .poll(() => notices.textContent())
    .toContain('This exchange has no market NOPE; the page shows BTC-USD-PERP.');
  const hash = (to: string) => page.evaluate((text) => void (location.hash = text), to);
  await hash('market=ETH-USD-PERP');
  await expect.poll(() => name.textContent()).toContain('ETH-USD-PERP');
  expect(await notices.textContent()).not.toContain('NOPE');
  await hash('market=eth');
  await expect
    .poll(() => notices.textContent())
    .toContain('no market eth; the page shows ETH-USD-PERP.');
  await page.keyboard.press('m');
  await page.waitForSelector('#market-list[open]');
  expect(await page.locator('#market-list tbody tr').first().textContent()).toContain('per 1 h');
  await page.keyboard.type('btc');
  await page.keyboard.press('Enter');
  await expect.poll(() => notices.textContent()).not.toContain('no market');
  expect(faults).toEqual([]);
  await page.close();
});

test('a wallet logs in, places each type of order, and reads why one is refused', async () => {
  const { page, faults } = await screen.open();
  await addWallet(page, TRADER, 1);
  await screen.show(page);
  await screen.logIn(page);
  await page.fill('[aria-label="Simulation token"]', SIM);
  await button(page, 'Test controls').click();
  await page.fill('[aria-label="Deposit in USD"]', '20000');
  await button(page, 'Deposit').first().click();
  await expect.poll(() => page.locator('.effects').textContent()).toContain('20,000.00');

  await fill(page, 'price', '59000');
  await fill(page, 'size', '0.5');
  await expect
    .poll(() => page.locator('.effects').textContent())
    .toContain('20,000.00 → 19,400.00');
  await screen.sendTicket(page);
  await expect.poll(() => screen.openCount(page)).toBe('1');
  // The wallet signed for the exchange's chain.
  const asked = await page.evaluate(
    () => (globalThis as unknown as { askedOfWallet: string[] }).askedOfWallet,
  );
  expect(asked).toContain('wallet_switchEthereumChain');

  for (const [price, quantity, field, text] of [
    ['59000.05', '0.5', 'price', /multiple of the tick size/],
    ['59000', '0,5', 'size', /comma is ambiguous/],
    ['59000', '0.00001', 'size', /multiple of the lot size/],
    ['59000', '80', 'size', /Free collateral does not cover it \(insufficientMargin\)/],
  ] as const) {
    await fill(page, 'price', price);
    await fill(page, 'size', quantity);
    await expect.poll(() => page.locator(`#fault-${field}`).textContent()).toMatch(text);
    expect(await page.locator('#submit').isDisabled()).toBe(true);
  }
  await screen.picture(page, 'refused');

  const type = (kind: string) => page.selectOption('[aria-label="Order type"]', kind);
  await type('market');
  await fill(page, 'size', '1');
  await expect.poll(() => page.locator('.effects').textContent()).toMatch(/Fills now1 at 60,100/);
  await expect
    .poll(() => page.locator('.effects').textContent())
    .toMatch(/Liquidation–? ?→ ?[\d,.]+|Liquidation.*→/);
  await screen.sendTicket(page);
  await expect.poll(() => page.locator('#tab-positions small').textContent()).toBe('1');

  await button(page, 'Sell').first().click();
  await type('stopLoss');
  await fill(page, 'trigger', '57000');
  await fill(page, 'size', '1');
  await screen.sendTicket(page);
  await type('takeProfit');
  await fill(page, 'trigger', '64000');
  await fill(page, 'price', '63900');
  await screen.sendTicket(page);
  await type('trailingStop');
  await fill(page, 'trigger', '');
  await fill(page, 'price', '');
  await fill(page, 'trailing', '2');
  await screen.sendTicket(page);
  await expect.poll(() => screen.openCount(page)).toBe('4');
  await button(page, 'Buy').first().click();
  await type('iceberg');
  await fill(page, 'price', '58500');
  await fill(page, 'size', '0.3');
  await fill(page, 'slices', '3');
  await page.locator('label.check', { hasText: 'Reduce only' }).locator('input').uncheck();
  await screen.sendTicket(page);
  await expect.poll(() => screen.openCount(page)).toBe('7');
  await type('twap');
  await fill(page, 'price', '58400');
  await fill(page, 'size', '0.2');
  await fill(page, 'slices', '2');
  await screen.sendTicket(page);
  await expect.poll(() => screen.openCount(page)).toBe('9');
  // With a bracket.
  await type('limit');
  await fill(page, 'price', '58000');
  await fill(page, 'size', '0.1');
  await page.locator('label.check', { hasText: 'Bracket' }).locator('input').check();
  await fill(page, 'tp', '65000');
  await fill(page, 'sl', '56000');
  await screen.sendTicket(page);
  await expect.poll(() => screen.openCount(page)).toBe('12');
  await screen.picture(page, 'trading');

  await page.locator('#tab-orders').click();
  await page
    .locator('#panel-orders')
    .getByRole('button', { name: 'Cancel', exact: true })
    .first()
    .click();
  await expect.poll(() => screen.openCount(page)).not.toBe('12');
  await button(page, 'Cancel all').click();
  await expect.poll(() => screen.openCount(page)).toBe('0');
  await page.locator('#tab-positions').click();
  await button(page, `Close ${SYMBOL}`).click();
  await expect.poll(() => page.locator('#tab-positions small').textContent()).toBe('0');
  await page.locator('#tab-account').click();
  await expect
    .poll(() => page.locator('#panel-account').textContent())
    .toContain('Free collateral');
  await screen.picture(page, 'account');
  expect(faults.filter(isUnexpected)).toEqual([]);
  await page.close();
}, 90_000);

test('a trader is liquidated, and an operator sees effects before a command', async () => {
  const { page, faults } = await screen.open();
  await screen.show(page);
  await button(page, 'Log in').click();
  expect(await page.locator('#key-warning').textContent()).toContain('Test accounts only');
  await page.fill('#login-key', 'not a key');
  await button(page, 'Log in with the key').click();
  await expect.poll(() => page.locator('#login .fault-text').textContent()).toContain('64');
  await page.fill('#login-key', '3'.padStart(64, '0'));
  await button(page, 'Log in with the key').click();
  await page.waitForSelector('.notice.warn');
  await screen.server.sim('deposit', {
    account: walletOf(3).address,
    amount: '3000',
  });
  await expect.poll(() => page.locator('.effects').textContent()).toContain('3,000.00');
  await page.selectOption('[aria-label="Order type"]', 'market');
  await fill(page, 'size', '1.5');
  await screen.sendTicket(page);
  await expect.poll(() => page.locator('#tab-positions small').textContent()).toBe('1');
  await page.fill('[aria-label="Simulation token"]', SIM);
  await button(page, 'Test controls').click();
  await page.waitForSelector('#exchange-time');
  await page.fill(`[aria-label="Oracle price of ${SYMBOL}"]`, '58000');
  await button(page, 'Set oracle').click();
  await expect.poll(() => page.locator('#tab-liquidations small').textContent()).not.toBe('0');
  await expect
    .poll(() => page.locator('.notices').textContent())
    .toContain('This account was liquidated');
  await button(page, 'Show the steps').click();
  await expect
    .poll(() => page.locator('[aria-label="Whose liquidations"]').inputValue())
    .toBe('own');
  await expect.poll(() => page.locator('#panel-liquidations').textContent()).toContain('stepadl');
  await screen.picture(page, 'liquidated');
  await page.fill(`[aria-label="Oracle price of ${SYMBOL}"]`, '60000');
  await button(page, 'Set oracle').click();

  await page.locator('#tab-operations').click();
  await page.fill('#operator-token', OPERATOR);
  await button(page, 'Operate').click();
  await page.selectOption('[aria-label="New status"]', 'halted');
  await button(page, 'Show effects of the status').click();
  await expect.poll(() => page.locator('#command-effects').textContent()).toContain('Ends');
  expect(await page.locator('.market-bar').textContent()).not.toContain('halted');
  await button(page, 'Carry out').click();
  await expect.poll(() => page.locator('.market-bar').textContent()).toContain('halted');
  await expect
    .poll(() => page.locator('#panel-operations').textContent())
    .toContain('setMarketStatus');
  await screen.picture(page, 'operations');
  await screen.server.operate(`markets/${SYMBOL}/status`, { status: 'open' });
  await expect.poll(() => page.locator('.market-bar').textContent()).not.toContain('halted');
  const before = await page.locator('#exchange-time').textContent();
  await button(page, '+1 min').click();
  await expect.poll(() => page.locator('#exchange-time').textContent()).not.toBe(before);
  expect(faults.filter(isUnexpected)).toEqual([]);
  await page.close();
}, 60_000);

test('a killed server greys the data, and what was shown as done is there again', async () => {
  const { page } = await screen.open();
  await addWallet(page, TRADER);
  await screen.server.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await screen.show(page);
  await screen.logIn(page);
  await fill(page, 'price', '59100');
  await fill(page, 'size', '0.1');
  await screen.sendTicket(page);
  const open_ = await screen.openCount(page);
  // An order on its way when the server dies is sent again, once.
  await fill(page, 'size', '0.2');
  await expect.poll(() => page.locator('#submit').isEnabled()).toBe(true);
  let isKilled = false;
  await page.route('**/account/order', async (route) => {
    if (isKilled) {
      await route.continue();
      return;
    }
    isKilled = true;
    // The server carries it out, and the answer is lost.
    await route.fetch();
    await screen.server.kill();
    await route.abort();
  });
  await page.locator('#submit').click();
  await page.waitForSelector('.screen.stale');
  await expect
    .poll(() => page.locator('.connection').textContent())
    .toMatch(/no connection, data \d+ s old/);
  await expect.poll(() => page.locator('.outbox').textContent()).toContain('waits');
  expect(await page.locator('#submit').isDisabled()).toBe(true);
  await screen.picture(page, 'stale');
  await screen.server.restart();
  await page.waitForSelector('.connection.ok');
  await expect.poll(() => page.locator('.outbox').textContent()).toContain('✓ done');
  await expect.poll(() => screen.openCount(page)).toBe(String(Number(open_) + 1));
  await page.locator('#tab-orders').click();
  expect(await page.locator('#panel-orders').textContent()).toContain('0.1000');
  await page.close();
}, 60_000);

test('a server that is back with another secret is shown live, and asks for a login', async () => {
  const { page } = await screen.open();
  await addWallet(page, TRADER);
  await screen.server.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await screen.show(page);
  await screen.logIn(page);
  await screen.server.kill();
  await page.waitForSelector('.screen.stale');
  screen.server.changeSecret();
  await screen.server.restart();
  await page.waitForSelector('.connection.ok');
  await button(page, 'Log in').waitFor();
  await screen.logIn(page);
  await expect.poll(() => page.locator('.connection').textContent()).toContain('live');
  await page.close();
}, 60_000);

test('axe finds nothing, light and dark, wide and narrow', async () => {
  const { page } = await screen.open();
  await addWallet(page, TRADER);
  await screen.show(page);
  await screen.logIn(page);
  for (const [width, scheme] of [
    [1360, 'light'],
    [390, 'dark'],
    [1360, 'dark'],
    [390, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 860 });
    await page.emulateMedia({ colorScheme: scheme });
    for (const tab of ['orders', 'account', 'operations']) {
      await page.locator(`#tab-${tab}`).click();
      expect(await violations(page), `${tab} ${String(width)} ${scheme}`).toEqual([]);
    }
    const widths = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(widths[0], String(width)).toBeLessThanOrEqual(widths[1] ?? 0);
    await screen.picture(page, `${String(width)}-${scheme}`);
  }
  await button(page, 'Buy').last().click();
  expect(await violations(page), 'sheet').toEqual([]);
  await page.close();
}, 60_000);
