/**
 * Actions on the screen that are interrupted or made on the chart: lines that are dragged, requests
 * that wait, sessions that end, a wallet that changes, a server that fails; and operations.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DATASET, example } from '../run-plan/plans.ts';
import { addWallet, button, fill, MAKER, Screen, SYMBOL, TRADER, walletOf } from './screen.ts';
import { OPERATOR, SIM } from './server-process.ts';
import { violations } from './violations.ts';

let screen: Screen;

beforeAll(async () => {
  screen = await Screen.start();
  const { server } = screen;
  await server.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await server.sim('deposit', { account: MAKER.address, amount: '10000000' });
  await server.sim('deposit', { account: TRADER.address, amount: '50000' });
  await server.place(MAKER, { price: '60010', quantity: '-3' });
  const other = walletOf(8);
  await server.sim('deposit', { account: other.address, amount: '100000' });
  await server.place(other, {
    price: '60010',
    quantity: '1',
    flags: { ioc: true, postOnly: false, reduceOnly: false },
  });
}, 90_000);
afterAll(() => screen.close());

/** Heights of the chart at which a line can be taken, from the top. */
async function lines(page: Page): Promise<number[]> {
  const canvas = page.locator('.chart-canvas .fill');
  const box = await canvas.boundingBox();
  if (box === null) throw new Error('the chart has no place');
  const found: number[] = [];
  let wasNear = false;
  for (let y = 2; y < box.height; y += 9) {
    await page.mouse.move(box.x + 200, box.y + y);
    const isNear = (await canvas.evaluate((one) => (one as HTMLElement).style.cursor)) !== '';
    if (isNear && !wasNear) found.push(box.y + y);
    wasNear = isNear;
  }
  return found;
}

async function drag(page: Page, fromY: number, byPx: number): Promise<void> {
  const box = await page.locator('.chart-canvas .fill').boundingBox();
  const x = (box?.x ?? 0) + 200;
  await page.mouse.move(x, fromY);
  await page.mouse.down();
  await page.mouse.move(x, fromY + byPx, { steps: 4 });
  await page.mouse.up();
}

const newest = (page: Page) => page.locator('.outbox li').first();

test('a planned bracket, an order and a stop are dragged on the chart', async () => {
  const { page, faults } = await screen.open();
  await addWallet(page, TRADER);
  await screen.show(page);
  await screen.logIn(page);
  await fill(page, 'price', '59900');
  await fill(page, 'size', '0.1');
  await page.locator('label.check', { hasText: 'Bracket' }).locator('input').check();
  await fill(page, 'tp', '60600');
  await fill(page, 'sl', '59400');
  await expect.poll(async () => (await lines(page)).length).toBe(2);
  const [profit = 0, loss = 0] = await lines(page);
  await drag(page, profit, 20);
  await expect.poll(() => page.inputValue('#ticket-tp')).not.toBe('60600');
  const moved = Number(await page.inputValue('#ticket-tp'));
  expect(moved).toBeGreaterThan(60_000);
  expect(moved).toBeLessThan(60_600);
  expect((moved * 10) % 1).toBe(0);
  await drag(page, (await lines(page)).at(-1) ?? loss, -10);
  expect(Number(await page.inputValue('#ticket-sl'))).toBeGreaterThan(59_400);
  await screen.picture(page, 'bracket');
  await page.locator('label.check', { hasText: 'Bracket' }).locator('input').uncheck();
  await screen.sendTicket(page);
  await expect.poll(() => screen.openCount(page)).toBe('1');
  await expect.poll(async () => (await lines(page)).length).toBe(1);
  const [order = 0] = await lines(page);
  await drag(page, order, 12);
  await screen.done(page);
  await page.locator('#tab-orders').click();
  await expect.poll(() => page.locator('#panel-orders tbody tr').count()).toBe(1);
  const priceOf = async (): Promise<number> => {
    const text = await page.locator('[data-label="Price"]').first().textContent();
    return Number(text?.replaceAll(',', ''));
  };
  await expect.poll(priceOf).toBeLessThan(59_900);
  await button(page, 'Cancel all').click();
  await expect.poll(() => screen.openCount(page)).toBe('0');
  // A stop keeps the distance of its limit.
  await button(page, 'Sell').first().click();
  await page.selectOption('[aria-label="Order type"]', 'stopLoss');
  await page.locator('label.check', { hasText: 'Reduce only' }).locator('input').uncheck();
  await fill(page, 'trigger', '59500');
  await fill(page, 'price', '59400');
  await screen.sendTicket(page);
  await expect.poll(async () => (await lines(page)).length).toBe(1);
  const [stop = 0] = await lines(page);
  await drag(page, stop, -12);
  await screen.done(page);
  const trigger = page.locator('[data-label="Trigger"]').first();
  const triggerOf = async (): Promise<number> =>
    Number((await trigger.textContent())?.replaceAll(',', ''));
  await expect.poll(triggerOf).toBeGreaterThan(59_500);
  expect((await triggerOf()) - (await priceOf())).toBeCloseTo(100, 6);
  await button(page, 'Cancel all').click();
  await expect.poll(() => screen.openCount(page)).toBe('0');
  expect(faults).toEqual([]);
  await page.close();
}, 60_000);

test('a request that waits is withdrawn, and a server that fails on and on frees the ticket', async () => {
  const { page } = await screen.open();
  await addWallet(page, TRADER);
  await screen.show(page);
  await screen.logIn(page);
  await fill(page, 'price', '59000');
  await fill(page, 'size', '0.1');
  await expect.poll(() => page.locator('#submit').isEnabled()).toBe(true);
  await page.route('**/account/order', (route) => route.abort());
  await page.locator('#submit').click();
  await expect.poll(() => newest(page).textContent()).toContain('waits');
  expect(await page.locator('#submit').isDisabled()).toBe(true);
  await button(page, /^Withdraw/).click();
  await expect.poll(() => newest(page).textContent()).toContain('withdrawn');
  await newest(page).getByRole('button').click();
  await page.unroute('**/account/order');
  await page.route('**/account/order', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 500, body: '"Internal server error: a proxy"' })
      : route.continue(),
  );
  await expect.poll(() => page.locator('#submit').isEnabled()).toBe(true);
  await page.locator('#submit').click();
  await expect.poll(() => newest(page).textContent(), { timeout: 20_000 }).toContain('✗ refused');
  expect(await newest(page).textContent()).toContain('a proxy');
  await page.unroute('**/account/order');
  await expect.poll(() => page.locator('#submit').isEnabled()).toBe(true);
  expect(await screen.openCount(page)).toBe('0');
  await page.close();
}, 60_000);

test('a token that ends in the middle of an order loses nothing, and says so', async () => {
  const { page } = await screen.open();
  await addWallet(page, TRADER);
  await screen.show(page);
  await screen.logIn(page);
  await fill(page, 'price', '59000');
  await fill(page, 'size', '0.1');
  await expect.poll(() => page.locator('#submit').isEnabled()).toBe(true);
  let isEnded = false;
  await page.route('**/account/order', async (route) => {
    if (isEnded || route.request().method() !== 'POST') {
      await route.continue();
      return;
    }
    isEnded = true;
    await route.fulfill({ status: 401, body: '"Invalid token"' });
  });
  await page.locator('#submit').click();
  await expect.poll(() => newest(page).textContent()).toContain('waits for login');
  expect(await page.locator('.notices').textContent()).toContain('The session has ended');
  await screen.picture(page, 'session-ended');
  expect(await page.locator('#submit').count()).toBe(0);
  await button(page, 'Log in again').click();
  await button(page, 'Connect a wallet').click();
  await screen.done(page);
  await expect.poll(() => screen.openCount(page)).toBe('1');
  await page.locator('#tab-orders').click();
  await button(page, 'Cancel all').click();
  await expect.poll(() => screen.openCount(page)).toBe('0');
  await page.close();
}, 60_000);

test('another account or chain of the wallet signs nothing by surprise', async () => {
  const { page } = await screen.open();
  await addWallet(page, TRADER);
  await screen.show(page);
  await screen.logIn(page);
  await fill(page, 'price', '59000');
  await fill(page, 'size', '0.1');
  await expect.poll(() => page.locator('#submit').isEnabled()).toBe(true);
  await page.evaluate(() => {
    const { walletState } = globalThis as unknown as {
      walletState: { chain: string; refusesSwitch: boolean };
    };
    walletState.chain = '0x1';
    walletState.refusesSwitch = true;
  });
  await page.locator('#submit').click();
  await expect
    .poll(() => newest(page).textContent())
    .toMatch(/refused.*The wallet is on chain 1; this exchange needs chain 1337/);
  expect(await screen.openCount(page)).toBe('0');
  await newest(page).getByRole('button').click();
  await page.evaluate((other) => {
    const { emitOfWallet } = globalThis as unknown as {
      emitOfWallet: (event: string, value: unknown) => void;
    };
    emitOfWallet('accountsChanged', [other]);
  }, walletOf(9).address);
  await expect
    .poll(() => page.locator('#login').textContent())
    .toContain('The wallet changed its account');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('.market-bar').textContent()).toContain('Log in');
  await page.close();
}, 60_000);

test('an operator lists and delists a market, arms a fault, and sees the riskiest account', async () => {
  const { server } = screen;
  const { page, faults } = await screen.open();
  await addWallet(page, TRADER);
  await screen.show(page);
  await screen.logIn(page);
  await page.selectOption('[aria-label="Order type"]', 'market');
  await fill(page, 'size', '1');
  await screen.sendTicket(page);
  await page.locator('#tab-operations').click();
  await page.fill('#operator-token', OPERATOR);
  await button(page, 'Operate').click();
  await expect
    .poll(() => page.locator('#server-status').textContent())
    .toMatch(/Free disk[\d.,]+.GB/);
  await expect.poll(() => page.locator('#server-status').textContent()).toMatch(/Feeds\d/);
  const risk = page.locator('[aria-label="Accounts at risk"]');
  await expect.poll(() => risk.locator('tbody tr').count()).toBe(3);
  expect(await risk.locator('tbody tr').first().textContent()).toContain(
    TRADER.address.toLowerCase(),
  );
  await button(page, 'Show effects of the listing').click();
  await expect.poll(() => page.locator('#command-effects').textContent()).toContain('List NEW-USD');
  await button(page, 'Carry out').click();
  await expect
    .poll(() => page.locator('[aria-label="Markets and their prices"]').textContent())
    .toContain('NEW-USD-PERP');
  await page.keyboard.press('Escape');
  await button(page, 'Show effects of the listing').click();
  await expect
    .poll(() => page.locator('#panel-operations .notice').first().textContent())
    .toContain('symbol: is listed already');
  await page.fill('[aria-label="Settlement price of a delisting"]', '60000');
  await button(page, 'Show effects of delisting').click();
  await expect
    .poll(() => page.locator('#command-effects').textContent())
    .toMatch(/Delist BTC-USD-PERP at 60000.*closes 3 positions/);
  await button(page, 'Dismiss').click();
  expect(await page.locator('#tab-positions small').textContent()).toBe('1');
  await page.fill('[aria-label="Simulation token"]', SIM);
  await button(page, 'Test controls').click();
  await page.selectOption('[aria-label="Fault"]', 'lostAnswer');
  await page.selectOption('[aria-label="Endpoint"]', 'submitOrder');
  expect(await page.locator('#faults').textContent()).toContain(
    'the next 1 request to submitOrder: carried out, but the connection ends',
  );
  await button(page, 'Arm').click();
  await expect.poll(() => page.locator('#faults').textContent()).toContain('Armed');
  await page.selectOption('[aria-label="Order type"]', 'limit');
  await fill(page, 'price', '59000');
  await fill(page, 'size', '0.1');
  await screen.sendTicket(page);
  await expect.poll(() => screen.openCount(page)).toBe('1');
  expect(await violations(page)).toEqual([]);
  await screen.picture(page, 'operations-full');
  // The whole incident by keyboard: close, and cancel.
  await page
    .locator('h1')
    .first()
    .click({ position: { x: 1, y: 1 }, trial: true });
  await page.evaluate(() => {
    (document.activeElement as HTMLElement).blur();
  });
  await page.keyboard.press('x');
  await expect.poll(() => screen.openCount(page)).toBe('0');
  await server.place(MAKER, { price: '59990', quantity: '2' });
  await page.keyboard.press('c');
  await expect.poll(() => page.locator('#tab-positions small').textContent()).toBe('0');
  await server.sim('clock', { advanceMs: 1 });
  expect(
    faults.filter((text) => !/ERR_EMPTY_RESPONSE|status of 400|Failed to load/.test(text)),
  ).toEqual([]);
  await page.close();
}, 60_000);

test('a recording is paused, continued and sped up', async () => {
  const replayed = await screen.also(['--clock', 'wall', '--replay', DATASET, '--speed', '1']);
  try {
    const { page, faults } = await replayed.open();
    await page.goto(`${replayed.server.url}/ui`);
    await page.waitForSelector('.connection.ok');
    await page.fill('[aria-label="Simulation token"]', SIM);
    await button(page, 'Test controls').click();
    const bar = page.locator('#replay');
    await expect.poll(() => bar.textContent()).toMatch(/replay of .*% of the recording/);
    await button(page, '❚❚ Pause').click();
    await expect.poll(() => button(page, '▶ Continue').count()).toBe(1);
    const at = await replayed.server.replayUs();
    await page.waitForTimeout(100);
    expect(await replayed.server.replayUs()).toBe(at);
    await button(page, '+1 s').click();
    await expect.poll(() => replayed.server.replayUs()).toBe(at + 1_000_000);
    await page.selectOption('[aria-label="Speed of the replay"]', '100');
    await button(page, '▶ Continue').click();
    await expect.poll(() => replayed.server.replayUs()).toBeGreaterThan(at + 1_000_000);
    await expect.poll(() => bar.locator('progress').getAttribute('value')).not.toBe('0');
    // Prices are those of the recording.
    expect(await page.locator('[aria-label^="Oracle price"]').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await replayed.picture(page, 'replay');
    expect(faults.filter((text) => !/status of 40[04]/.test(text))).toEqual([]);
    await page.close();
  } finally {
    await replayed.server.remove();
  }
}, 60_000);

test('a strategy trades on a recording beside the person, who pauses, steps and trades with it', async () => {
  const beside = await screen.also([
    ...['--replay', DATASET, '--strategy', example('quotes'), '--no-check', '--speed', '4'],
  ]);
  try {
    const { page, faults } = await beside.open();
    await page.goto(`${beside.server.url}/ui`);
    await page.waitForSelector('.connection.ok');
    await page.fill('[aria-label="Simulation token"]', SIM);
    await button(page, 'Test controls').click();
    await page.locator('#tab-strategy').click();
    const panel = page.locator('#strategy');
    const orders = panel.locator('[aria-label="Open orders of the strategy"] tbody tr');
    await expect.poll(() => panel.textContent(), { timeout: 20_000 }).toContain('running');
    await expect.poll(() => orders.count(), { timeout: 20_000 }).toBeGreaterThan(1);
    await button(page, '❚❚ Pause').click();
    await expect.poll(() => button(page, '▶ Continue').count()).toBe(1);
    const clock = page.locator('#replay .small').first();
    const at = await clock.textContent();
    await button(page, '+1 s').click();
    await expect.poll(() => clock.textContent()).not.toBe(at);
    // Its bid, and all that was recorded before it at this price or a better one.
    await beside.logInWithKey(page, 1);
    await page.fill('[aria-label="Deposit in USD"]', '20000000');
    await button(page, 'Deposit').last().click();
    const bid = orders.filter({ hasText: 'buy' }).first();
    // It may have been paused between a cancel and the next order.
    await expect
      .poll(
        async () => {
          if ((await bid.count()) === 0) await button(page, '+1 s').click();
          return bid.count();
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe(1);
    const price = (await bid.locator('[data-label="Price"]').textContent()) ?? '';
    await button(page, 'Sell').first().click();
    await fill(page, 'price', price.replaceAll(',', ''));
    await fill(page, 'size', '60');
    await beside.sendTicket(page);
    const fills = panel.locator('[aria-label="Newest fills of the strategy"] tbody tr');
    await expect.poll(() => fills.first().textContent()).toMatch(new RegExp(`buy${price}`));
    await beside.picture(page, 'beside');
    expect(await violations(page)).toEqual([]);
    // It sees the fill when history goes on, and quotes again.
    await button(page, '▶ Continue').click();
    await expect.poll(() => orders.count(), { timeout: 20_000 }).toBeGreaterThan(1);
    // On a busy machine previews are off for a while: 503.
    expect(
      faults.filter((text) => !/status of 40[04]|status of 503 .*\/preview\//.test(text)),
    ).toEqual([]);
    await page.close();
  } finally {
    await beside.server.remove();
  }
}, 90_000);
