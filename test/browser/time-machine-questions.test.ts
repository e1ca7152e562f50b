/**
 * Questions of a first reader, by mouse and by keyboard: why an order was filled late, who was
 * liquidated first, which command broke an invariant, and what a run without an order had been.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/assert.ts';
import { World } from '../time-machine/journals.ts';
import { newOrder } from '../time-machine/planted.ts';
import { openBrowser, type OpenBrowser } from './chromium.ts';
import { buildPage, Folder, openPage, showsSeq, type BuildPlugin } from './machine-page.ts';

/** Most keys of a way, so that it takes well under a minute. */
const MOST_KEYS = 30;

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

/** A maker's orders at one price, and a taker who reaches the last of them after a while. */
function queueWorld() {
  const world = new World();
  const [maker, other, taker] = [world.user(1e6), world.user(1e6), world.user(1e6)];
  world.price(1000);
  world.order(other, -2, 1001);
  const late = world.order(maker, -1, 1001);
  world.order(maker, -1, 1002);
  const third = world.order(maker, -1, 1003);
  world.order(taker, 2, 1001);
  const fill = world.order(taker, 1, 1001);
  return { bytes: world.bytes(), maker, late, third, fill };
}

/** A world in which a fall liquidates the second user. */
function fallWorld() {
  const world = new World({ terms: { takerFee: '0.001' } });
  const [maker, taker] = [world.user(1e6), world.user(120)];
  world.price(1000);
  world.order(maker, -1, 1000);
  const fill = world.order(taker, 1, 1000);
  world.order(maker, 1, 880);
  const crash = world.price(890);
  return { bytes: world.bytes(), fill, crash };
}

/** Presses Tab until an element with this text has the focus; returns the number of presses. */
async function tabTo(page: Page, text: RegExp): Promise<number> {
  for (let presses = 1; presses < MOST_KEYS; presses++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => document.activeElement?.textContent ?? '');
    if (text.test(focused) && focused.length < 60) return presses;
  }
  throw new Error(`${String(MOST_KEYS)} presses of Tab do not reach ${String(text)}`);
}

const contains = (page: Page, selector: string, text: RegExp) =>
  expect.poll(() => page.locator(selector).first().textContent()).toMatch(text);

async function open(name: string, bytes: Uint8Array): Promise<Page> {
  return (await openPage(browser.context, await folder.page(name, bytes))).page;
}

test('why an order was filled late, by mouse and by keyboard', async () => {
  const { bytes, late, fill } = queueWorld();
  const page = await open('late', bytes);
  const answered = async (): Promise<void> => {
    await contains(page, '#panel-order', /behind 2: u2 #\d+ 2\./);
    await contains(page, '#panel-order', /Of the size ahead, 2 traded and 0 was withdrawn/);
    await contains(page, '#panel-order', /It was filled first after/);
  };
  await page.getByRole('button', { name: 'Last fill' }).click();
  await showsSeq(page, fill.seq);
  await page
    .locator('.lines')
    .getByRole('button', { name: `#${String(late.id)}` })
    .click();
  await answered();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Home');
  await page.keyboard.press('2');
  await showsSeq(page, fill.seq);
  await page.keyboard.press('y');
  await page.waitForSelector('#panel-why:focus');
  const more = await tabTo(page, new RegExp(`^#${String(late.id)}$`));
  await page.keyboard.press('Enter');
  await answered();
  console.log(`late fill: ${String(more + 3)} keys`);
  expect(more + 3).toBeLessThan(MOST_KEYS);
  await page.close();
});

test('the first liquidation and 1 % more collateral, by keyboard', async () => {
  const { bytes, crash } = fallWorld();
  const page = await open('fall', bytes);
  await page.keyboard.press('1');
  await showsSeq(page, crash.seq);
  await page.keyboard.press('y');
  await page.waitForSelector('#panel-why:focus');
  const more = await tabTo(page, /^u2: 1 % more collateral$/);
  await page.keyboard.press('Enter');
  await contains(page, '#comparison', /First liquidated.*u2 at/);
  await contains(page, '#comparison', /Saved in the fork/);
  await contains(page, '.verdict', /No: with 1 % more collateral, u2 is still liquidated/);
  console.log(`first liquidation: ${String(more + 3)} keys`);
  // On a narrow page, the bar does not cover the answer.
  await page.setViewportSize({ width: 390, height: 860 });
  await page.getByRole('button', { name: '1 % more collateral' }).click();
  await page.waitForSelector('.verdict');
  const gap = () =>
    page.evaluate(() => {
      const [bar, answer] = ['.transport', '.verdict'].map((selector) =>
        document.querySelector(selector)?.getBoundingClientRect(),
      );
      return (answer?.top ?? NaN) - (bar?.bottom ?? NaN);
    });
  await expect.poll(gap).toBeGreaterThanOrEqual(0);
  await expect.poll(gap).toBeLessThan(400);
  await page.close();
});

test('a run without the third order of an account, by mouse and by keyboard', async () => {
  const { bytes, maker, third } = queueWorld();
  const address = `${await folder.page('third', bytes)}#sel=account:${String(maker)}`;
  const { page } = await openPage(browser.context, address);
  const answered = () =>
    contains(page, '#comparison', new RegExp(`First divergence${String(third.seq)}.*Fills`));
  const name = /^All orders of u1$/;
  await page.getByRole('tab', { name: /^Orders/ }).click();
  await page.getByRole('button', { name }).click();
  await page.getByRole('button', { name: 'Without it' }).nth(2).click();
  await answered();
  await page.reload();
  await page.waitForSelector('.top [role=status]:not(:has(progress))');
  await expect.poll(() => page.locator('#panel-events').count()).toBe(1);
  await page.keyboard.press('f');
  await page.waitForSelector('#panel-fork:focus');
  await page.keyboard.press('Shift+Tab');
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowLeft');
  let keys = await tabTo(page, name);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#placed-orders tbody tr');
  for (let i = 0; i < 3; i++) keys += await tabTo(page, /^Without it$/);
  await page.keyboard.press('Enter');
  await answered();
  console.log(`without an order: ${String(keys + 8)} keys`);
  await page.close();
});

/** A command that places two orders, of which the second is cancelled later. */
function batchWorld() {
  const world = new World();
  const maker = world.user(1e6);
  world.price(1000);
  const batch = world.apply({
    kind: 'placeOrders',
    timeUs: world.time,
    subaccount: maker,
    delegate: null,
    orders: [
      newOrder({ nonce: 1_000_000n, priceTicks: 900 as never, ioc: false }),
      newOrder({ nonce: 1_000_001n, priceTicks: 910 as never, ioc: false }),
    ],
  });
  const last = world.exchange.lastOrderId;
  world.cancel({ id: last });
  return { bytes: world.bytes(), batch, maker, last };
}

/** Leaves the other orders of the command out, too: as if the order were all of it. */
const DROPS_ALL: BuildPlugin = {
  name: 'planted',
  transform: (code, id) =>
    id.endsWith('time-machine/order-history.ts')
      ? code.replace('command.orders.length < 2', 'command.orders.length < 9')
      : null,
};

test('an order of several is left out alone, and the page names it', async () => {
  const { bytes, maker, last } = batchWorld();
  const select = `#sel=account:${String(maker)}`;
  const without = async (address: string, nth: number): Promise<readonly [string, string]> => {
    const { page } = await openPage(browser.context, `${address}${select}`);
    await page.getByRole('tab', { name: /^Orders/ }).click();
    await page.getByRole('button', { name: /^All orders of/ }).click();
    await page.getByRole('button', { name: 'Without it' }).nth(nth).click();
    await contains(page, '#comparison', /Commands without effect/);
    const chip = (await page.locator('.fork .chip').first().textContent()) ?? '';
    const rows = await page.locator('#comparison tr').allTextContents();
    await page.close();
    return [chip, rows.find((row) => row.startsWith('Commands without effect')) ?? ''];
  };
  const address = await folder.page('batch', bytes);
  const [first, second] = [await without(address, 0), await without(address, 1)];
  expect(first).toEqual([
    expect.stringContaining(`#${String(last - 1)}`),
    expect.stringMatching(/00/),
  ]);
  // The cancel of the order that is left out names what the branch lacks.
  expect(second).toEqual([
    expect.stringContaining(`#${String(last)}`),
    expect.stringMatching(/01/),
  ]);
  const faulty = await without(await folder.changedPage('all', bytes, DROPS_ALL), 0);
  expect(faulty).not.toEqual(first);
}, 60_000);

/** A context with its own storage, and a function that opens pages in it. */
async function ownStorage() {
  const context = await must(browser.context.browser() ?? undefined, 'it is open').newContext();
  const tab = async (address: string): Promise<Page> => (await openPage(context, address)).page;
  return { context, tab };
}

async function mark(page: Page, note: string): Promise<void> {
  await page.keyboard.press('m');
  await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement);
  await page.keyboard.type(note);
  await page.keyboard.press('Enter');
}

/** Notes of the bookmarks that a page lists. */
async function notesOf(page: Page): Promise<readonly string[]> {
  await page.keyboard.press('m');
  await page.waitForSelector('dialog[open]');
  const notes = await page.locator('dialog li > span:not(.space)').allTextContents();
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
  return notes;
}

test('two tabs of a page keep and show the bookmarks of both', async () => {
  const address = await folder.page('tabs', fallWorld().bytes);
  const { context, tab } = await ownStorage();
  const [one, other] = [await tab(address), await tab(address)];
  await one.keyboard.press('Home');
  await mark(one, 'of the first tab');
  await other.keyboard.press('End');
  await mark(other, 'of the second tab');
  const both = ['of the first tab', 'of the second tab'];
  await expect.poll(() => notesOf(one)).toEqual(both);
  await expect.poll(async () => notesOf(await tab(address))).toEqual(both);
  await context.close();
});

test('another journal of the same name neither shows nor shares the bookmarks', async () => {
  const [mine, foreign] = [fallWorld().bytes, queueWorld().bytes];
  const { context, tab } = await ownStorage();
  const named = (file: string, journal: Uint8Array) =>
    folder.page(file, journal, { name: 'masked' });
  const first = await tab(await named('mine', mine));
  await first.keyboard.press('End');
  await mark(first, 'a customer by name');
  const second = await tab(await named('foreign', foreign));
  expect(await notesOf(second)).toEqual([]);
  await second.keyboard.press('End');
  await mark(second, 'a note of its own');
  expect(await notesOf(second)).toEqual(['a note of its own']);
  await second.getByRole('button', { name: 'Share' }).click();
  const download = second.waitForEvent('download');
  await second.getByRole('button', { name: 'Write the file' }).click();
  const shared = folder.file('shared.html');
  await (await download).saveAs(shared);
  const text = readFileSync(shared, 'utf8');
  expect(text).toContain('a note of its own');
  expect(text).not.toContain('a customer by name');
  // A removed bookmark leaves that of the other journal.
  await second.keyboard.press('Escape');
  await second.keyboard.press('m');
  await second.getByRole('button', { name: 'Remove the bookmark' }).click();
  await second.close();
  await first.reload();
  await first.waitForSelector('.top [role=status]:not(:has(progress))');
  await expect.poll(() => notesOf(first)).toEqual(['a customer by name']);
  await context.close();
});

test('a run that another one stops says so, and a failure says what was found', async () => {
  const world = new World();
  world.user(1e6);
  world.price(1000);
  // Long enough for a second run to begin during the first.
  for (let i = 0; i < 40_000; i++) world.wait(1);
  const last = world.seq;
  const failure = { seq: last, text: 'conservation (R-1): money is conserved. Found instead: 1' };
  const address = await folder.page('stopped', world.bytes(), { failure });
  const { page } = await openPage(browser.context, address);
  await contains(page, '.why', /Found by the fuzzer.*Found instead: 1/);
  await page.keyboard.press('Home');
  await contains(page, '.why', /Before the first command/);
  expect(await page.getByText('Found instead').count()).toBe(0);
  await page.getByRole('button', { name: 'Failure of the fuzzer' }).click();
  await showsSeq(page, last);
  await page.keyboard.press('b');
  await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement);
  await page.keyboard.type('insurance < 0');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.breaks .chip');
  await page.keyboard.press('Home');
  // Within the page, so that the second run begins during the first on a busy machine, too.
  await page.evaluate(async () => {
    const buttons = [...document.querySelectorAll('button')];
    for (const text of ['First broken invariant', 'Run on']) {
      buttons.find((button) => button.textContent.includes(text))?.click();
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  });
  await contains(page, '.why', /The check was stopped by another run/);
  await contains(page, '.breaks', /no later hit/);
  await page.close();
}, 60_000);

/** The engine of the page counts a Quantum of supply with each fee. */
const FAULT: BuildPlugin = {
  name: 'planted',
  transform: (code, id) =>
    id.endsWith('engine/accounts/settle-fill.ts')
      ? code.replace(
          'LEDGER_CODES.fee);',
          'LEDGER_CODES.fee);\n  state.supply = (state.supply + 1n);',
        )
      : null,
};

test('the command that breaks an invariant, in an engine with a fault', async () => {
  const { bytes, fill } = fallWorld();
  const sound = await open('sound', bytes);
  await sound.getByRole('button', { name: 'First broken invariant' }).click();
  await contains(sound, '.why', /No command of this journal breaks an invariant/);
  await sound.close();
  const address = await folder.changedPage('faulty', bytes, FAULT);
  const { page } = await openPage(browser.context, address);
  await page.getByRole('button', { name: 'First broken invariant' }).click();
  await showsSeq(page, fill.seq);
  await contains(page, '.why', /Broken after this command.*conservation .*supply/);
  await contains(page, '.why', new RegExp(`Command ${String(fill.seq)} is the first that breaks`));
  // By one key.
  await page.keyboard.press('Home');
  await contains(page, '.why', /Before the first command/);
  await page.keyboard.press('4');
  await showsSeq(page, fill.seq);
  // As a breakpoint, by keyboard.
  await page.keyboard.press('Home');
  await page.keyboard.press('b');
  await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement);
  await page.keyboard.type('violations.length > 0');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.breaks .chip');
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.keyboard.press(']');
  await showsSeq(page, fill.seq);
  await contains(page, '.why', /Broken after this command/);
  await page.close();
}, 60_000);

test('a breakpoint that cannot be evaluated says why and where; its hits are counted in the next journal', async () => {
  const world = new World();
  for (let i = 0; i < 40; i++) world.user(1000);
  const { page } = await openPage(browser.context, await folder.page('slow', world.bytes()));
  const add = async (text: string): Promise<void> => {
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press('b');
    await page.fill('#expression', text);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#expression', { state: 'detached' });
  };
  await add('accounts.length > 20');
  await contains(page, '.breaks .chip', /1 hit$|1 hit✕/);
  await add(
    'accounts.every(a => accounts.every(b => accounts.every(c => accounts.every(d => true))))',
  );
  await contains(page, '.breaks .chip .error', /not counted: after command \d+, column \d+: takes/);
  // The run on stops before the fault, the run back at it.
  await page.keyboard.press('Home');
  await page.keyboard.press(']');
  await contains(page, '.now', /seq [1-9]/);
  const hit = await page.locator('#chain').getAttribute('data-seq');
  await page.keyboard.press('End');
  await page.keyboard.press('[');
  await contains(page, '.breaks [role=alert]', /after command \d+, column \d+: takes more than/);
  await page.getByRole('button', { name: /^Remove the breakpoint accounts.every/ }).click();
  await page.keyboard.press('[');
  await showsSeq(page, Number(hit));
  expect(await page.locator('.breaks [role=alert]').count()).toBe(0);
  // The same condition in a journal in which it never holds.
  await page.keyboard.press('Home');
  await expect.poll(() => page.url()).toContain('#seq=0');
  const other = folder.file('other.orrery');
  const { bytes, fill } = queueWorld();
  writeFileSync(other, bytes);
  const transfer = await page.evaluateHandle(
    (data) => {
      const made = new DataTransfer();
      made.items.add(new File([new Uint8Array(data)], 'other.orrery'));
      return made;
    },
    [...readFileSync(other)],
  );
  await page.dispatchEvent('.machine', 'drop', { dataTransfer: transfer });
  await contains(page, '.breaks .chip', /0 hits/);
  // The address named a place of the journal before.
  await showsSeq(page, fill.seq);
  await page.close();
}, 60_000);

test('Escape gives the focus back that a key took', async () => {
  const page = await open('focus', queueWorld().bytes);
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  await page.getByRole('button', { name: 'Last fill' }).focus();
  for (const key of ['b', 'e', '/']) {
    await page.keyboard.press(key);
    await expect.poll(focused).not.toContain('Last fill');
    await page.keyboard.press('Escape');
    await expect.poll(focused, { message: key }).toContain('Last fill');
  }
  // The button is drawn again.
  await page.getByRole('button', { name: '+ Breakpoint' }).press('Enter');
  await page.waitForSelector('#expression:focus');
  await page.keyboard.press('Escape');
  await expect.poll(focused).toContain('+ Breakpoint');
  await page.close();
});

test('an address that names no place is reported until the reader moves', async () => {
  const { bytes, fill } = queueWorld();
  const address = await folder.page('address', bytes);
  for (const [wrong, says] of [
    ['seq=abc', 'seq=abc'],
    ['trade=-1', 'trade=-1'],
    ['sel=order', 'sel=order'],
    ['trade=999', 'no trade 999'],
  ] as const) {
    const { page } = await openPage(browser.context, `${address}#${wrong}`);
    await showsSeq(page, fill.seq);
    const alert = page.locator('.foot [role=alert]');
    // The account of the page is chosen after that, and its scene loaded.
    await expect.poll(() => page.locator('.chart.account canvas').count()).toBeGreaterThan(0);
    expect(await alert.textContent()).toContain(says);
    await page.keyboard.press('Home');
    await expect.poll(() => alert.count()).toBe(0);
    await page.close();
  }
});

test('a phone shows all figures of the charts', async () => {
  const { bytes, fill } = fallWorld();
  const address = await folder.page('phone', bytes);
  const { page } = await openPage(browser.context, `${address}#seq=${String(fill.seq)}`);
  await page.setViewportSize({ width: 320, height: 640 });
  await contains(page, '.chart.account > p', /drawdown/);
  const cut = await page
    .locator('.chart > p')
    .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).length);
  expect(cut).toBe(0);
  await page.close();
});

test('a wrong condition stays in sight beside its fault, also on a phone', async () => {
  const page = await open('condition', queueWorld().bytes);
  // Typed at once: the field has the focus before the next key.
  await page.keyboard.press('b');
  await page.keyboard.type('events.some((e) => e.kind == "orderFilled" && e.account == "u1")');
  await page.keyboard.press('Enter');
  await contains(page, '.breaks', /e\.account == "u1".*\d hits?/);
  await page.keyboard.press('b');
  await page.keyboard.type('account(u1).equitty < 1');
  await page.keyboard.press('Enter');
  await contains(page, '#expression-problem', /no field 'equitty'/);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    const [field, remove, whole] = await page.evaluate(() => {
      const widthOf = (selector: string) =>
        document.querySelector(selector)?.getBoundingClientRect().width ?? 0;
      return [widthOf('#expression'), widthOf('.breaks .chip button'), document.body.scrollWidth];
    });
    expect(field, String(width)).toBeGreaterThan(190);
    expect(remove).toBeGreaterThanOrEqual(24);
    expect(whole).toBeLessThanOrEqual(width);
  }
  await page.close();
});

test('whether a market is frozen stands beside its status', async () => {
  const world = new World();
  world.price(1000);
  world.wait(3600);
  const page = await open('frozen', world.bytes());
  await contains(page, '.facts:has-text("Open interest")', /Statusopen, frozen/);
  await page.keyboard.press('ArrowLeft');
  await contains(page, '.facts:has-text("Open interest")', /Statusopen$/);
});
