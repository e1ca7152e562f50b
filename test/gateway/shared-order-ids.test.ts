/** Orders with one id in trust mode: the live one is found, or the newest. */
import { expect, test } from 'vitest';
import type { ExchangeView, OrderView } from '../../src/engine/read/views.ts';
import { TrustOrderIds } from '../../src/gateway/order-ids.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

type Status = OrderView['status'];

function opened() {
  const orders: OrderView[] = [];
  const view = {
    order: (id: number) => orders[id - 1],
    get lastOrderId() {
      return orders.length;
    },
    subaccount: () => ({ account: 0, index: 0 }),
    addressOf: () => '0x00000000000000000000000000000000000000aa',
  };
  const ids = new TrustOrderIds(view as unknown as ExchangeView, keccak);
  const place = (nonce: bigint, status: Status): OrderView => {
    const order = { orderId: orders.length + 1, subaccount: 0, nonce, status, attached: 'no' };
    orders.push(order as unknown as OrderView);
    return order as unknown as OrderView;
  };
  const end = (order: OrderView): void => {
    orders[order.orderId - 1] = { ...order, status: 'filled' };
  };
  return { ids, place, end };
}

test('an order that is placed after an ended one with its id is found, also after a read', () => {
  const { ids, place, end } = opened();
  const first = place(1n, 'filled');
  const digest = ids.digestOf(first);
  expect(ids.find(digest)?.orderId).toBe(1);
  const second = place(1n, 'new');
  expect(ids.find(digest)?.orderId).toBe(2);
  place(1n, 'cancelled');
  expect(ids.find(digest)?.orderId).toBe(2);
  end(second);
  expect(ids.find(digest)?.orderId).toBe(3);
  expect(ids.find(ids.digestOf(place(2n, 'new')))?.orderId).toBe(4);
});
