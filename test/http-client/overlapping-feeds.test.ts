/** Subscriptions of one connection that overlap, end apart, or are refused at a reconnect. */
import { Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { HttpMatcherClient, type FeedClient } from '../../src/http-client/index.ts';
import { ALICE, BOB, order } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';

const SYMBOL = 'BTC-USD-PERP';
const OTHER = 'ETH-USD-PERP';
const AS_ALICE = { account: ALICE, signer: ALICE };
const AS_BOB = { account: BOB, signer: BOB };
const wallet = new Wallet(`0x${'8'.repeat(64)}`);
let served: Served;
let client: HttpMatcherClient;
let feeds: FeedClient;
beforeAll(async () => {
  served = await Served.start();
  for (const account of [ALICE, BOB, wallet.address]) {
    await served.sim('deposit', { account, amount: '100000' });
  }
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await served.sim('oracle', { symbol: OTHER, price: '3000' });
  client = new HttpMatcherClient({ url: served.url, signer: wallet });
});
afterAll(() => served.remove());
beforeEach(() => {
  feeds = client.feeds();
  return () => feeds.close();
});

type Feed = AsyncIterator<unknown>;
const next = (feed: Feed): Promise<Record<string, unknown>> =>
  Promise.race([
    feed.next().then(({ value }) => value as Record<string, unknown>),
    new Promise<never>((_resolve, reject) => {
      setTimeout(() => {
        reject(new Error('no update'));
      }, 20_000).unref();
    }),
  ]);
const trade = async (symbol: string, price: string, quantity: string) => {
  const one = { symbol, price };
  await served.call('submitOrder', order({ ...one, quantity: `-${quantity}` }), AS_ALICE);
  await served.call('submitOrder', order({ ...one, account: BOB, quantity }), AS_BOB);
};
const miss = async (what: () => Promise<unknown>): Promise<void> => {
  const socket = await (feeds as unknown as { socket: Promise<WebSocket> }).socket;
  const gone = new Promise((resolve) => socket.once('close', resolve));
  socket.terminate();
  await gone;
  await what();
};
const delegate = async (account: string, delegated: boolean) => {
  const answer = await served.call(
    'updateDelegates',
    {
      account,
      delegate: wallet.address,
      delegated,
      expiresAt: 9_007_199_254_740_991,
      nonce: Date.now() * 1000 + Math.floor(Math.random() * 1000),
      signatures: [],
      subaccountIndex: 0,
    },
    { account, signer: account } as typeof AS_ALICE,
  );
  expect(answer.status, answer.text).toBe(200);
};

test('an update goes to each of two subscriptions once', async () => {
  const all = await feeds.subscribe('trade', {});
  const one = await feeds.subscribe('trade', { symbols: [SYMBOL] });
  for (const quantity of ['0.001', '0.002']) {
    await trade(SYMBOL, '60000', quantity);
    expect(await next(all)).toMatchObject({ quantity });
    expect(await next(one)).toMatchObject({ quantity });
  }
});

test('two subscriptions to one book have no gaps', async () => {
  const all = await feeds.subscribe('book', {});
  const one = await feeds.subscribe('book', { symbols: [SYMBOL] });
  for (const price of ['50001', '50002', '50003']) {
    await served.call('submitOrder', order({ price }), AS_ALICE);
    for (const feed of [all, one]) {
      let update: Record<string, unknown>;
      do update = await next(feed);
      while (update['symbol'] !== SYMBOL || update['snapshot'] === true);
      expect(update).toMatchObject({ bids: [{ price }] });
    }
  }
  expect(feeds.gaps).toBe(0);
});

test('a revoked delegation ends the subscription of that account only', async () => {
  await delegate(ALICE, true);
  await delegate(BOB, true);
  const alice = await feeds.subscribe('balance', { account: ALICE, subaccountIndices: [0] });
  const bob = await feeds.subscribe('balance', { account: BOB, subaccountIndices: [0] });
  await delegate(ALICE, false);
  await expect(alice.next()).rejects.toThrow('Not delegated');
  await served.sim('deposit', { account: BOB, amount: '1' });
  expect(await next(bob)).toMatchObject({ account: BOB });
});

test('feeds end when their wallet may log in for the account no more', async () => {
  await delegate(ALICE, true);
  const { url } = served;
  const delegated = new HttpMatcherClient({ url, signer: wallet, account: ALICE }).feeds();
  const trades = await delegated.subscribe('trade', { symbols: [SYMBOL] });
  const orders = await delegated.subscribe('order', { account: ALICE, subaccountIndices: [0] });
  await delegate(ALICE, false);
  for (const feed of [trades, orders]) {
    await expect(next(feed)).rejects.toThrow('login: Invalid signature');
  }
  expect(delegated.lostSinceMs).toBeNull();
  // With the right the same client goes on.
  await delegate(ALICE, true);
  const again = await delegated.subscribe('order', { account: ALICE, subaccountIndices: [0] });
  await served.call('submitOrder', order({ price: '50009' }), AS_ALICE);
  expect(await next(again)).toMatchObject({ price: '50009' });
  await delegated.close();
});

test('a subscription refused at a reconnect ends; the others go on', async () => {
  await served.sim('clock', { advanceMs: 5 });
  await delegate(ALICE, true);
  const alice = await feeds.subscribe('balance', { account: ALICE, subaccountIndices: [0] });
  const trades = await feeds.subscribe('trade', { symbols: [SYMBOL] });
  await miss(async () => {
    await delegate(ALICE, false);
    await trade(SYMBOL, '60000', '0.004');
  });
  expect(await next(trades)).toMatchObject({ quantity: '0.004' });
  await expect(alice.next()).rejects.toThrow('Not delegated');
  // The ended one is not subscribed again.
  await miss(() => trade(SYMBOL, '60000', '0.005'));
  expect(await next(trades)).toMatchObject({ quantity: '0.005' });
});

test('trades of two markets at one time: each once after a lost connection', async () => {
  await served.sim('clock', { advanceMs: 5 });
  const trades = await feeds.subscribe('trade', { symbols: [SYMBOL, OTHER] });
  await trade(OTHER, '3000', '0.01');
  expect(await next(trades)).toMatchObject({ symbol: OTHER });
  await miss(() => trade(SYMBOL, '60000', '0.006'));
  expect(await next(trades)).toMatchObject({ symbol: SYMBOL, quantity: '0.006' });
  await trade(OTHER, '3000', '0.02');
  expect(await next(trades)).toMatchObject({ symbol: OTHER, quantity: '0.02' });
});

test('calls of next that overlap are answered in their order', async () => {
  const trades = await feeds.subscribe('trade', { symbols: [SYMBOL] });
  const both = [next(trades), next(trades)];
  await trade(SYMBOL, '60000', '0.007');
  await trade(SYMBOL, '60000', '0.008');
  expect((await Promise.all(both)).map(({ quantity }) => quantity)).toEqual(['0.007', '0.008']);
});

test('a position that was open at the subscription and closed meanwhile is reported', async () => {
  const logged = new Wallet(`0x${'9'.repeat(64)}`);
  const account = logged.address;
  await served.sim('deposit', { account, amount: '100000' });
  const own = new HttpMatcherClient({ url: served.url, signer: logged });
  const caller = {
    account: account.toLowerCase(),
    signer: account.toLowerCase(),
  } as typeof AS_ALICE;
  const move = async (quantity: string) => {
    const opposite = quantity.startsWith('-') ? quantity.slice(1) : `-${quantity}`;
    await served.call('submitOrder', order({ price: '60000', quantity: opposite }), AS_ALICE);
    await served.call(
      'submitOrder',
      order({ account: caller.account, price: '60000', quantity }),
      caller,
    );
  };
  await move('0.1');
  await feeds.close();
  feeds = own.feeds();
  const positions = await feeds.subscribe('position', { account });
  await miss(() => move('-0.1'));
  // On a slow machine the client is back before it closes.
  let update = await next(positions);
  while (update['quantity'] === '0.1') update = await next(positions);
  expect(update).toMatchObject({ symbol: SYMBOL, quantity: '0' });
});
