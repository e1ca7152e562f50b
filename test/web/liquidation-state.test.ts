/** The notice of a liquidation speaks of the account in use, and of new rows only. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { forgetHistory } from '../../src/web/exchange/account-history.ts';
import { dismiss, followLiquidations, newest } from '../../src/web/exchange/liquidation-state.ts';
import { liquidations } from '../../src/web/exchange/markets.ts';
import { account, subaccountIndex, token } from '../../src/web/exchange/session.ts';

/** Times of the rows of each subaccount, newest first. */
let rows: number[][] = [];
/** Requests that fail, from now on. */
let failures = 0;
/** Runs once when the next request arrives, before it is answered. */
let atNext: (() => Promise<unknown>) | null = null;
let requests = 0;

const answerTo = (path: string): Response => {
  const index = Number(new URL(path, 'http://host').searchParams.get('subaccountIndex'));
  const body = (rows[index] ?? []).map((time) => ({ event: 'step', time, symbol: 'A' }));
  return new Response(JSON.stringify(body));
};

// One clock for all tests: jobs remember when they ran.
beforeAll(() => {
  vi.useFakeTimers();
});

afterAll(() => {
  vi.useRealTimers();
});

beforeEach(() => {
  [failures, requests] = [0, 0];
  vi.stubGlobal('fetch', async (path: string) => {
    requests += 1;
    const now = atNext;
    atNext = null;
    await now?.();
    if (failures > 0) {
      failures -= 1;
      return new Response('"busy"', { status: 429 });
    }
    return answerTo(path);
  });
});

afterEach(async () => {
  token.value = null;
  account.value = null;
  subaccountIndex.value = 0;
  liquidations.value = [];
  forgetHistory();
  await vi.runAllTimersAsync();
  vi.unstubAllGlobals();
});

const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(10_000);
const isAlert = (): boolean => newest.value !== null;

let isFollowed = false;

async function loggedIn(): Promise<void> {
  if (!isFollowed) followLiquidations();
  isFollowed = true;
  account.value = '0xa';
  token.value = 'token';
  await settled();
}

function choose(index: number): void {
  subaccountIndex.value = index;
  // The history may be forgotten after the first read began.
  forgetHistory();
}

/** The public feed has a liquidation of any account. */
function someoneIsLiquidated(): void {
  liquidations.value = [{} as never, ...liquidations.value];
}

it('a liquidation of another account after a change of the subaccount is none of this one', async () => {
  rows = [[1], [3, 2]];
  await loggedIn();
  choose(1);
  await settled();
  someoneIsLiquidated();
  await settled();
  expect(isAlert()).toBe(false);
  rows = [[1], [4, 3, 2]];
  someoneIsLiquidated();
  await settled();
  expect(isAlert()).toBe(true);
  dismiss();
  someoneIsLiquidated();
  await settled();
  expect(isAlert()).toBe(false);
  rows = [[1], [5, 4, 3, 2]];
  someoneIsLiquidated();
  await settled();
  expect(isAlert()).toBe(true);
  choose(0);
  expect(isAlert()).toBe(false);
});

it('a first read that fails is repeated, and its rows are old', async () => {
  rows = [[2, 1]];
  failures = 2;
  await loggedIn();
  someoneIsLiquidated();
  await settled();
  expect(isAlert()).toBe(false);
  rows = [[3, 2, 1]];
  failures = 1;
  someoneIsLiquidated();
  await settled();
  expect(isAlert()).toBe(true);
});

it('a read that is on its way while the subaccount changes gives no notice', async () => {
  rows = [[1], [2]];
  await loggedIn();
  atNext = () => {
    rows = [[3, 1], [2]];
    forgetHistory();
    subaccountIndex.value = 1;
    // The rows of the other subaccount arrive first.
    return new Promise((resolve) => setTimeout(resolve, 3000));
  };
  someoneIsLiquidated();
  await settled();
  expect(requests).toBe(3);
  expect(isAlert()).toBe(false);
});

it('a failing server is asked once per pause, however many liquidations there are', async () => {
  rows = [[1]];
  await loggedIn();
  [failures, requests] = [Infinity, 0];
  for (let i = 0; i < 20; i++) {
    someoneIsLiquidated();
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(requests).toBeGreaterThan(5);
  expect(requests).toBeLessThan(13);
});
