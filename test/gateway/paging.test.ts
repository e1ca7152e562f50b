/**
 * Pagination of lists: no entry is repeated or skipped, even with new entries; retention
 * cuts are reported.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  ENDPOINT_IDS,
  ENDPOINTS,
  type Endpoint,
  type ListId,
} from '../../src/contract/endpoints.ts';
import type { PageInfo } from '../../src/gateway/context.ts';
import { InProcessClient } from '../../src/gateway/in-process-client.ts';
import { pagesOf } from '../../src/gateway/matcher-client.ts';
import { GENESIS, RiskWorld } from '../engine/risk-world.ts';
import { EFFORT } from '../setup/effort.ts';

const MARKETS = ['M', 'N', 'O', 'P', 'Q'];
type Query = Record<string, unknown>;

interface Listed extends PageInfo {
  /** Entries of the page in list order. */
  readonly items: readonly unknown[];
  readonly body: unknown;
}

/**
 * A world with entries at one instant, or over time if `spread`: pagination must also work if the
 * clock stands still.
 */
function busyWorld(spread: boolean, config: Query = {}): RiskWorld {
  const world = new RiskWorld(
    MARKETS.map((symbol) => ({ symbol })),
    config,
  );
  world.checks = false;
  world.fund({ ann: '100000', bob: '1000000', cat: '1000' });
  for (let i = 1; i < 8; i++) world.deposit('ann', '100', i);
  for (const name of ['dan', 'eve', 'fay']) world.delegate('ann', name);
  for (const name of ['dan', 'gus']) world.delegate('ann', name, true, 3);
  for (const symbol of MARKETS) world.price('100', symbol);
  world.trade('ann', 'bob', '1', '100');
  world.wait(300_000);
  for (let i = 0; i < 9; i++) {
    if (spread && i % 2 === 0) world.wait(40_000);
    world.trade('ann', 'bob', '1', '100', MARKETS[i % MARKETS.length]);
    world.trade('ann', 'bob', '0.5', '100');
    world.order('ann', '1', String(80 + i));
    world.order('ann', '-1', String(120 + i));
    world.transfer('ann', 'ann', '1', { subaccountIndexTo: 1 });
    world.transfer('ann', 'vault', '10');
    world.transfer('ann', 'vault', '10', { subaccountIndexFrom: 2 });
  }
  if (spread) world.wait(43_200_000);
  if (spread) world.wait(43_200_000);
  return world;
}

/** Lists of current entries, which change in place, so their pages show different times. */
const MOVING: readonly ListId[] = ['getBalance', 'getPositions', 'getPrices'];

const account = (world: RiskWorld): Query => ({ account: world.addressOf('ann') });
const subaccount = (world: RiskWorld): Query => ({ ...account(world), subaccountIndex: 0 });

/** A query for every list. */
const QUERIES: Readonly<Record<ListId, (world: RiskWorld) => Query>> = {
  listOrders: subaccount,
  getBalance: account,
  getDelegates: account,
  getTransfers: subaccount,
  getMargin: subaccount,
  getPositions: subaccount,
  getClsHistory: () => ({}),
  getCandles: () => ({ symbol: 'M', to: GENESIS / 1000 + 1_200_000 }),
  getTrades: () => ({ symbol: 'M' }),
  getMarkets: () => ({}),
  getPrices: () => ({}),
};
const LISTS = Object.keys(QUERIES) as ListId[];

function read(world: RiskWorld, id: ListId, query: Query): Listed {
  const { status, body, page } = world.call(id, query, 'ann');
  if (status !== 200 || page === undefined) throw new Error(`${id}: ${String(body)}`);
  if (id !== 'listOrders') {
    const items = body as unknown[];
    return { ...page, body, items: id === 'getCandles' ? items.toReversed() : items };
  }
  const { asks, bids } = body as { asks: Order[]; bids: Order[] };
  const items = [...asks, ...bids].map(({ orderId }) => orderId);
  return { ...page, body, items };
}

interface Order {
  readonly orderId: string;
}

/** All pages of at most `limit`; `between` runs before each page but the first. */
function walk(
  world: RiskWorld,
  id: ListId,
  limit: number,
  between: () => void = () => undefined,
): unknown[] {
  const items: unknown[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < 1000; pages++) {
    if (pages > 0) between();
    const query: Query = { ...QUERIES[id](world), limit, ...(cursor === null ? {} : { cursor }) };
    const page = read(world, id, query);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    items.push(...page.items);
    if (page.next === null) return items;
    expect(page.items.length).toBe(limit);
    cursor = page.next;
  }
  throw new Error('pagination does not end');
}

const wholeOf = (world: RiskWorld, id: ListId): readonly unknown[] =>
  read(world, id, { ...QUERIES[id](world), limit: 500 }).items;
const sorted = (items: readonly unknown[]): string[] =>
  items.map((item) => JSON.stringify(item)).sort();

test('every list endpoint is paginated', () => {
  const lists = ENDPOINT_IDS.filter((id) => {
    const { method, response } = ENDPOINTS[id] as Endpoint;
    return method === 'GET' && ('items' in response || id === 'listOrders');
  });
  const paged = ENDPOINT_IDS.filter((id) => (ENDPOINTS[id] as Endpoint).pages !== undefined);
  expect(paged).toEqual(lists);
  expect([...LISTS].sort()).toEqual([...paged].sort());
});

describe.each([
  ['at one instant', false],
  ['over time', true],
])('an exchange with entries %s', (_name, spread) => {
  let world: RiskWorld;
  beforeAll(() => {
    world = busyWorld(spread);
  });

  test.each(LISTS)('%s: pages of any size add up to the whole list', (id) => {
    const whole = wholeOf(world, id);
    expect(whole.length).toBeGreaterThan(1);
    for (const limit of [1, 2, 3, 7, whole.length - 1, whole.length, whole.length + 1]) {
      const items = walk(world, id, limit);
      // A page of orders has asks and bids apart, so the bodies have no common order.
      if (id === 'listOrders') expect(sorted(items)).toEqual(sorted(whole));
      else expect(items).toEqual(whole);
    }
  });

  test.each(LISTS)('%s: a modified cursor and a cursor of another request are rejected', (id) => {
    const query = QUERIES[id](world);
    const { next } = read(world, id, { ...query, limit: 1 });
    const cursor = next ?? '';
    const refusal = (value: unknown, more: Query = {}): string =>
      world.answer(id, { ...query, ...more, limit: 1, cursor: value }, 'ann');
    const unknown = '400 cursor: is not valid for this list';
    for (let i = 0; i < cursor.length; i++) {
      const other = cursor[i] === 'a' ? 'b' : 'a';
      expect(refusal(cursor.slice(0, i) + other + cursor.slice(i + 1))).toBe(unknown);
    }
    for (const text of ['', 'x', '..', `${cursor}0`, cursor.toUpperCase(), '9'.repeat(5000)]) {
      if (text !== cursor) expect(refusal(text)).toBe(unknown);
    }
    expect(refusal(17)).toBe('400 cursor: must be a string');
    const other = LISTS.find((list) => list !== id)!;
    const foreign = read(world, other, { ...QUERIES[other](world), limit: 1 }).next;
    expect(refusal(foreign)).toBe(unknown);
    // The limit may change between pages; an integer may be text.
    expect(refusal(cursor, { limit: 3 })).toBe('ok');
  });

  test.each([
    ['listOrders', { status: 'open' }],
    ['getTransfers', { from: 1 }],
    ['getTrades', { symbol: 'N' }],
    ['getCandles', { interval: '5m' }],
    ['getPositions', { symbol: 'M' }],
    ['getBalance', { subaccountIndex: 0 }],
  ] as const)('%s: a cursor is bound to its parameters', (id, more) => {
    const query = QUERIES[id](world);
    const { next } = read(world, id, { ...query, limit: 1 });
    expect(world.answer(id, { ...query, ...more, cursor: next }, 'ann')).toBe(
      '400 cursor: was given for other parameters; send those again, only limit may change',
    );
  });
});

test('new entries come before the cursor: no entry is repeated or skipped', () => {
  const grow = (world: RiskWorld, what: number): void => {
    if (what % 3 === 0) world.wait(1 + (what % 7) * 30_000);
    if (what % 2 === 0) world.trade('ann', 'bob', '0.01', '100');
    if (what % 5 === 0) world.transfer('ann', 'ann', '1', { subaccountIndexTo: 1 });
    if (what % 7 === 0) world.transfer('ann', 'vault', '10');
    world.order('ann', '1', '70');
    if (what % 4 === 0) world.deposit('ann', '1', 100 + what);
  };
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.constantFrom(...LISTS.filter((id) => !MOVING.includes(id))),
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.nat(30), { maxLength: 6 }),
      (spread, id, limit, news) => {
        const world = busyWorld(spread);
        const before = sorted(wholeOf(world, id));
        const left = [...news];
        const shown = walk(world, id, limit, () => {
          const what = left.pop();
          if (what !== undefined) grow(world, what);
        });
        expect(sorted(shown)).toEqual(before);
      },
    ),
    { numRuns: 40 * EFFORT },
  );
});

describe('retention', () => {
  const config = {
    retention: {
      tradesPerMarket: 5,
      candleMinutesPerMarket: 3,
      endedOrdersPerAccount: 1000,
      transfersPerSubaccount: 4,
      vaultSnapshotsPerHolder: 2,
    },
  };
  const since = (world: RiskWorld, id: ListId, more: Query = {}): number | null =>
    read(world, id, { ...QUERIES[id](world), ...more }).keptSinceMs;

  test('a read beyond retention reports its start; a read within it is complete', () => {
    const world = busyWorld(true, config);
    const nowMs = world.atUs / 1000;
    for (const id of ['getTrades', 'getTransfers', 'getClsHistory', 'getCandles'] as const) {
      const keptSince = since(world, id);
      expect(keptSince, id).toBeGreaterThan(0);
      expect(keptSince).toBeLessThanOrEqual(nowMs);
      expect(since(world, id, { from: keptSince })).toBe(null);
      expect(since(world, id, { from: keptSince! - 1 })).toBe(keptSince);
    }
    expect(since(world, 'getTransfers', { subaccountIndex: 1 })).not.toBe(null);
    expect(since(world, 'getTransfers', { subaccountIndex: 5 })).toBe(null);
    for (const id of ['getBalance', 'getMarkets', 'getPositions'] as const) {
      expect(since(world, id)).toBe(null);
    }
  });

  test('no cut is reported while all entries are kept', () => {
    const world = busyWorld(true);
    for (const id of LISTS) expect(since(world, id), id).toBe(null);
  });

  test('ended orders: a cut is reported if the reply could include them', () => {
    const world = busyWorld(false, config);
    for (let i = 0; i < 510; i++) {
      world.wait(1);
      world.trade('ann', 'bob', '0.001', '100');
      world.trade('ann', 'bob', '-0.001', '100');
    }
    const keptSince = since(world, 'listOrders');
    expect(keptSince).toBeGreaterThan(world.atUs / 1000 - 510);
    expect(since(world, 'listOrders', { status: 'filled' })).toBe(keptSince);
    expect(since(world, 'listOrders', { status: 'open' })).toBe(null);
    expect(since(world, 'listOrders', { createdFrom: keptSince })).toBe(null);
    expect(since(world, 'listOrders', { updatedFrom: keptSince! - 1 })).toBe(keptSince);
  });

  test('a cursor to dropped entries returns the remaining ones and reports the cut', () => {
    const world = busyWorld(true, config);
    const first = read(world, 'getTrades', { symbol: 'M', limit: 2 });
    for (let i = 0; i < 5; i++) world.trade('ann', 'bob', '0.001', '100');
    const rest = read(world, 'getTrades', { symbol: 'M', limit: 2, cursor: first.next });
    expect(rest).toMatchObject({ items: [], next: null, keptSinceMs: world.atUs / 1000 });
  });
});

test('entries that change or appear during pagination are shown once, at their places', () => {
  const world = busyWorld(true);
  const indices: unknown[] = [];
  let round = 0;
  const balances = walk(world, 'getBalance', 2, () => {
    round += 1;
    world.deposit('ann', '1', round);
    world.deposit('ann', '1', 100 + round);
  }) as { subaccountIndex: number }[];
  for (const { subaccountIndex } of balances) indices.push(subaccountIndex);
  expect(new Set(indices).size).toBe(indices.length);
  expect(indices.slice(0, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  // A closed position disappears; its neighbours are not skipped.
  const { next } = read(world, 'getPositions', { ...subaccount(world), limit: 2 });
  world.trade('ann', 'bob', '-2', '100', 'N');
  const rest = read(world, 'getPositions', { ...subaccount(world), limit: 2, cursor: next });
  expect(rest.items).toMatchObject([{ symbol: 'O' }, { symbol: 'P' }]);
});

test('an order that changes during pagination moves to the front and is not repeated', () => {
  const world = busyWorld(true);
  const query = { ...subaccount(world), status: 'open', limit: 4 };
  const first = read(world, 'listOrders', query);
  world.wait(1);
  world.ask('cancelOrder', { orderId: first.items[0] }, 'ann');
  const second = read(world, 'listOrders', { ...query, cursor: first.next });
  expect(second.items).toHaveLength(4);
  for (const id of second.items) expect(first.items).not.toContain(id);
});

test('the total of orders counts all pages', () => {
  const world = busyWorld(true);
  const query = { ...subaccount(world), limit: 4 };
  const { next, body } = read(world, 'listOrders', query);
  const { total } = body as { total: number };
  expect(total).toBe(wholeOf(world, 'listOrders').length);
  const second = read(world, 'listOrders', { ...query, cursor: next }).body as { total: number };
  expect(second.total).toBe(total);
});

test('the in-process client reads all pages', async () => {
  const world = busyWorld(true);
  const ann = world.addressOf('ann');
  const client = new InProcessClient(world.gateway, { account: ann, signer: ann });
  const sizes: number[] = [];
  for await (const page of pagesOf(client, 'getTrades', { symbol: 'M', limit: 5 })) {
    sizes.push(page.body.length);
  }
  expect(sizes).toEqual([5, 5, 2]);
  await expect(client.page('getTrades', { symbol: 'M', cursor: 'x' })).rejects.toThrow(
    'cursor: is not valid for this list',
  );
});
