/**
 * Iterators of feeds after a lost connection: where fills may be missing, they say so at
 * their place among the updates, or end.
 */
import { Wallet } from 'ethers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FeedClient } from '../../src/http-client/feed-client.ts';
import { FeedError, type Resumed } from '../../src/http-client/feed.ts';
import { HttpMatcherClient } from '../../src/http-client/http-matcher-client.ts';
import { address } from '../../src/num/units.ts';
import { BOB, order, SYMBOL } from '../gateway/fixture.ts';
import { Served } from '../http/served.ts';
import { LossyProxy } from '../live/lossy-proxy.ts';

const WALLET = new Wallet(`0x${'7'.repeat(64)}`);
const OWN = address(WALLET.address.toLowerCase());
const PARAMS = { account: OWN, subaccountIndices: [0] };
const REASON = 'the server has no history of fills';

let served: Served;
let proxy: LossyProxy;
let feeds: FeedClient;
beforeEach(async () => {
  served = await Served.start();
  for (const account of [OWN, BOB]) await served.sim('deposit', { account, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
  proxy = await LossyProxy.start(served.url);
  await send(OWN, { price: '60000', quantity: '0.5' });
  feeds = new HttpMatcherClient({ url: proxy.url, signer: WALLET }).feeds();
});
afterEach(async () => {
  await feeds.close();
  await proxy.stop();
  await served.remove();
});

async function send(account: typeof OWN, terms: Record<string, unknown>): Promise<void> {
  const caller = { account, signer: account };
  const { body } = await served.call('submitOrder', order({ account, ...terms }), caller);
  expect(body).not.toMatchObject([{ status: 'rejected' }]);
}

/** Bob sells to the resting order of the iterator's account. */
async function sell(quantity: string): Promise<void> {
  const flags = { ioc: true, postOnly: false, reduceOnly: false };
  await send(BOB, { price: '60000', quantity: `-${quantity}`, flags });
}

/** Loses the connection, and 0.02 with it; resolves when it is there again. */
async function lose(hidden: string | null): Promise<void> {
  proxy.hidden = hidden;
  proxy.lose();
  await expect.poll(() => feeds.lostSinceMs).not.toBeNull();
  await sell('0.02');
  proxy.restore();
  await expect.poll(() => feeds.lostSinceMs).toBeNull();
}
const FILLS = '/account/history/fills';

test('without onResumed an iterator of fills ends where some may be missing', async () => {
  const fills = await feeds.subscribe('fill', PARAMS);
  await sell('0.03');
  expect((await fills.next()).value).toMatchObject({ quantity: '0.03' });
  await lose(FILLS);
  const error: unknown = await fills.next().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(FeedError);
  expect(String(error)).toMatch(new RegExp(`fills from 2.*Z to 2.*Z may be missing: ${REASON}$`));
  // A new subscription goes on from here.
  const next = await feeds.subscribe('fill', PARAMS);
  await sell('0.04');
  expect((await next.next()).value).toMatchObject({ quantity: '0.04' });
});

test('a pending next rejects too', async () => {
  const fills = await feeds.subscribe('fill', PARAMS);
  const waiting = expect(fills.next()).rejects.toThrow(`may be missing: ${REASON}`);
  await lose(FILLS);
  await waiting;
});

test('onResumed is called between the updates before and after the loss', async () => {
  const seen: unknown[] = [];
  const fills = await feeds.subscribe('fill', PARAMS, {
    onResumed: (resumed: Resumed) => seen.push(resumed),
  });
  const trades = await feeds.subscribe('trade', { symbols: [SYMBOL] });
  await sell('0.03');
  // Delivered to both, and not taken from the iterator of fills.
  expect((await trades.next()).value).toMatchObject({ quantity: '-0.03' });
  const startMs = Date.now();
  await lose(FILLS);
  await sell('0.04');
  for (const quantity of ['-0.02', '-0.04']) {
    expect((await trades.next()).value).toMatchObject({ quantity });
  }
  expect(seen).toEqual([]);
  const take = async (): Promise<void> => {
    seen.push(((await fills.next()) as { value: { quantity: string } }).value.quantity);
  };
  await take();
  await take();
  expect(seen).toMatchObject(['0.03', { unknownFills: REASON }, '0.04']);
  const { lostMs, resumedMs } = seen[1] as Resumed;
  expect(lostMs).toBeGreaterThanOrEqual(startMs);
  expect(resumedMs).toBeGreaterThanOrEqual(lostMs);
});

test('onResumed is called at once for an iterator that waits', async () => {
  const seen: Resumed[] = [];
  const fills = await feeds.subscribe('fill', PARAMS, {
    onResumed: (resumed: Resumed) => seen.push(resumed),
  });
  const waiting = fills.next();
  await lose(FILLS);
  expect(seen).toMatchObject([{ unknownFills: REASON }]);
  await sell('0.04');
  expect((await waiting).value).toMatchObject({ quantity: '0.04' });
});

test('with a history all fills come, and the iterator goes on', async () => {
  const seen: Resumed[] = [];
  const fills = await feeds.subscribe('fill', PARAMS);
  const orders = await feeds.subscribe('order', PARAMS, {
    onResumed: (resumed: Resumed) => seen.push(resumed),
  });
  await lose(null);
  await sell('0.04');
  for (const quantity of ['0.02', '0.04']) {
    expect((await fills.next()).value).toMatchObject({ quantity });
  }
  for (let i = 0; i < 2; i++) await orders.next();
  expect(seen).toMatchObject([{ unknownFills: null }]);
});

test('a listener of fills without onResumed ends there too', async () => {
  const errors: Error[] = [];
  await feeds.listen('fill', PARAMS, {
    onUpdate: () => undefined,
    onError: (error) => errors.push(error),
  });
  await lose(FILLS);
  expect(errors.map(({ message }) => message)).toEqual([
    expect.stringContaining(`may be missing: ${REASON}`),
  ]);
});
