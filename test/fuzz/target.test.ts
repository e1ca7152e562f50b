/**
 * A served exchange replies like its twin in this process; a host with one wrong field is detected,
 * with the rule.
 */
import { afterAll, expect, test } from 'vitest';
import { BookFeeds } from '../../src/cli/fuzz/book-feeds.ts';
import type { FeedClient } from '../../src/http-client/feed-client.ts';
import { HttpHost } from '../../src/cli/fuzz/http-host.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import type { BookLevels } from '../../src/fuzz/twin/twin-host.ts';
import { driveHost, type DriveResult } from '../../src/fuzz/twin/drive.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { DEFAULT_MARKETS, parseMarketSpec } from '../../src/gateway/market-config.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { changingProxy } from '../http/changing-proxy.ts';
import { PAGE_HEADERS } from '../../src/contract/endpoints.ts';
import { Served, SIM_TOKEN } from '../http/served.ts';
import { EFFORT } from '../setup/effort.ts';

const markets = DEFAULT_MARKETS.map((market) => {
  const spec = parseMarketSpec(market, keccak);
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
});
const open: { readonly stop: () => Promise<unknown> }[] = [];

afterAll(async () => {
  for (const { stop } of open) await stop();
});

async function serve(): Promise<Served> {
  const served = await Served.start();
  open.push({ stop: () => served.remove() });
  return served;
}

function drive(url: string, seed: string, commands: number): Promise<DriveResult> {
  const host = new HttpHost(
    url,
    SIM_TOKEN,
    ['one', 'two', 'three'].map((name) => seed + name),
  );
  const profile = drawProfile(seed, { name: 'stress', commands });
  return driveHost(profile, {
    host,
    config: DEFAULT_EXCHANGE_CONFIG,
    markets,
    users: host.users,
    keccak,
  }).finally(() => host.close());
}

test('a served exchange and its twin reply alike', { timeout: 120_000 }, async () => {
  const { url } = await serve();
  const { divergence, requests, used } = await drive(url, 'twins', 250 * EFFORT);
  expect(divergence).toBeNull();
  expect(requests).toBeGreaterThan(300);
  for (const endpoint of [
    'submitOrder',
    'cancelOrder',
    'getStats',
    'getBook',
    'deposit',
    'oracle',
    'clock',
    'bookFeed',
    'getOrder',
    'cancelOrders',
    'updateDelegates',
    'getSigners',
    'getConfig',
  ]) {
    expect(used[endpoint] ?? 0, endpoint).toBeGreaterThan(0);
  }
});

test.each([
  [
    '/account/stats',
    'freeCollateral',
    'getStats',
    'R-5.8',
    (text: string) => text.replace(/("freeCollateral":")(-?\d)/, '$11$2'),
  ],
  [
    '/account/order',
    'remaining',
    'submitOrder',
    'R-2.9',
    (text: string) => text.replace(/("remaining":")-?/, '$1-9'),
  ],
  [
    '/account/orders/cancel',
    'failed',
    'cancelOrders',
    'R-11.3',
    (text: string) => text.replace('"failed":[', '"failed":[{},'),
  ],
  [
    '/book',
    'asks',
    'getBook',
    'R-2.5',
    (text: string) => text.replace('"asks":[{', '"asks":[{"price":"1","quantity":"1"},{'),
  ],
])(
  'a host with a wrong %s %s is detected',
  { timeout: 120_000 },
  async (path, field, endpoint, rule, change) => {
    const { url } = await serve();
    const proxy = await changingProxy(url, path, change);
    open.push(proxy);
    const { divergence } = await drive(proxy.url, `wrong ${field}`, 300);
    expect(divergence?.detail).toContain(field);
    expect(divergence?.invariant).toBe(`host ${endpoint}`);
    expect(divergence?.rule).toBe(rule);
  },
);

test('a book feed that loses a level is detected (R-11.4)', { timeout: 120_000 }, async () => {
  const { url } = await serve();
  const users = ['four', 'five', 'six'];
  const host = new HttpHost(url, SIM_TOKEN, users);
  const truly = host.bookOfFeed.bind(host);
  host.bookOfFeed = async (symbol, isThere) => {
    const lossy = (book: BookLevels): BookLevels => ({ ...book, bids: book.bids.slice(1) });
    return lossy(await truly(symbol, (book) => isThere(lossy(book))));
  };
  const { divergence } = await driveHost(
    drawProfile('lossy', { name: 'matching', commands: 150 }),
    { host, config: DEFAULT_EXCHANGE_CONFIG, markets, users: host.users, keccak },
  ).finally(() => host.close());
  expect(divergence).toMatchObject({ invariant: 'host bookFeed', rule: 'R-11.4' });
  expect(divergence?.detail).toContain('body.bids');
});

test.each([
  [
    'repeats the last entry of a page',
    '/trades',
    'getTrades',
    (text: string): string => {
      const trades = JSON.parse(text) as unknown[];
      return JSON.stringify(trades.length > 1 ? [...trades.slice(0, -1), trades[0]] : trades);
    },
    undefined,
  ],
  [
    'ends a list one page early',
    '/account/orders',
    'listOrders',
    (text: string): string => text,
    (response: { removeHeader: (name: string) => void }): void => {
      response.removeHeader(PAGE_HEADERS.next);
    },
  ],
])(
  'a host that %s is detected',
  { timeout: 120_000 },
  async (_, path, endpoint, change, headers) => {
    const { url } = await serve();
    const proxy = await changingProxy(url, path, change, headers);
    open.push(proxy);
    const { divergence } = await drive(proxy.url, `pages ${endpoint}`, 400);
    expect(divergence?.invariant).toBe(`host ${endpoint}`);
  },
);

test('a subscriber who joins later and gets another book is detected (R-11.4)', async () => {
  const clients = [2, 3].map((size) => ({
    gaps: 0,
    subscribe: () =>
      Promise.resolve([
        {
          symbol: 'X',
          snapshot: true,
          bids: [{ price: '1', quantity: String(size) }],
          asks: [],
          sequence_number: 5,
          time: 1,
        },
      ]),
    close: () => Promise.resolve(),
  }));
  const feeds = await BookFeeds.open(() => clients.shift() as unknown as FeedClient);
  const asked = (): Promise<unknown> => feeds.book('X', ({ bids }) => bids[0]?.quantity === '2');
  for (let times = 1; times < 5; times += 1) {
    expect(await asked()).toMatchObject({ bids: [{ quantity: '2' }] });
  }
  expect(await asked()).toMatchObject({ bids: [{ quantity: '3' }] });
});

test('a book feed whose sequence numbers do not count up is detected (R-11.4)', async () => {
  const { url } = await serve();
  const host = new HttpHost(url, SIM_TOKEN, ['seven', 'eight', 'nine']);
  const messages = [
    { symbol: 'X', snapshot: true, bids: [], asks: [], sequence_number: 5, time: 1 },
    {
      symbol: 'X',
      snapshot: false,
      bids: [{ price: '1', quantity: '1' }],
      asks: [],
      sequence_number: 5,
      time: 1,
    },
  ];
  const client = {
    gaps: 0,
    subscribe: () => Promise.resolve(messages),
    close: () => Promise.resolve(),
  };
  const feeds = await BookFeeds.open(() => client as unknown as FeedClient);
  await feeds.book('X', ({ bids }) => bids.length > 0);
  expect(feeds.fault()).toBe('X: sequence number 5 after 5');
  host.feedFault = () => feeds.fault();
  const { divergence } = await driveHost(
    drawProfile('sequence', { name: 'matching', commands: 20 }),
    { host, config: DEFAULT_EXCHANGE_CONFIG, markets, users: host.users, keccak },
  ).finally(() => host.close());
  expect(divergence).toMatchObject({ invariant: 'host bookFeed', rule: 'R-11.4' });
});
