/** Orders of the account while its lists are read: the newest record of each is shown. */
import { afterEach, expect, it, vi } from 'vitest';
import {
  forgetAccount,
  loadAccount,
  openOrders,
  pastOrders,
  takeOrders,
} from '../../src/web/exchange/account-state.ts';
import type { Order } from '../../src/web/exchange/order-list.ts';
import { account, token } from '../../src/web/exchange/session.ts';

afterEach(() => {
  forgetAccount();
  account.value = null;
  token.value = null;
  vi.unstubAllGlobals();
});

const record = (status: string, lastUpdateSequenceNumber: number): Order =>
  ({
    orderId: '1',
    nonce: 1,
    createdAt: 1,
    updatedAt: lastUpdateSequenceNumber,
    status,
    symbol: 'A',
    quantity: '1',
    remaining: '1',
    price: '1',
    groupId: null,
    lastUpdateSequenceNumber,
  }) as unknown as Order;

it.each([
  ['the feed first', ['filled', 'new']],
  ['the answer first', ['new', 'filled']],
])('an order that ends while lists are read stays ended: %s', async (_name, order) => {
  const [first = '', second = ''] = order;
  const seqOf = (status: string): number => (status === 'new' ? 3 : 5);
  vi.stubGlobal('fetch', (path: string) => {
    const body = path.includes('order') ? { bids: [record('new', 3)], asks: [] } : [];
    return Promise.resolve(new Response(JSON.stringify(body)));
  });
  account.value = '0xa';
  token.value = 'token';
  const loaded = loadAccount();
  takeOrders([record(first, seqOf(first))]);
  takeOrders([record(second, seqOf(second))]);
  await loaded;
  expect(openOrders.value).toEqual([]);
  expect(pastOrders.value.map(({ status }) => status)).toEqual(['filled']);
});
