/** Several orders with one id: the oldest live one is found, or the newest. */
import { expect, test } from 'vitest';
import type { ExchangeView, OrderView } from '../../src/engine/read/views.ts';
import { SignedOrderIds, TrustOrderIds } from '../../src/gateway/order-ids.ts';
import { orderId } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

type Status = OrderView['status'];

function opened() {
  const orders: (OrderView | undefined)[] = [];
  const view = {
    order: (id: number) => orders[id - 1],
    get lastOrderId() {
      return orders.length;
    },
    subaccount: () => ({ account: 0, index: 0 }),
    addressOf: () => '0x00000000000000000000000000000000000000aa',
  };
  const ids = new TrustOrderIds(view as unknown as ExchangeView, keccak);
  const signed = new SignedOrderIds(view as unknown as ExchangeView, keccak, () => undefined);
  const forget = (order: OrderView): void => {
    orders[order.orderId - 1] = undefined;
  };
  const place = (nonce: bigint, status: Status): OrderView => {
    const order = { orderId: orders.length + 1, subaccount: 0, nonce, status, attached: 'no' };
    orders.push(order as unknown as OrderView);
    return order as unknown as OrderView;
  };
  const end = (order: OrderView): void => {
    orders[order.orderId - 1] = { ...order, status: 'filled' };
  };
  return { ids, signed, place, end, forget };
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

test('of two live orders the older is found, whatever was read before', () => {
  const { ids, place } = opened();
  const digest = ids.digestOf(place(1n, 'new'));
  expect(ids.find(digest)?.orderId).toBe(1);
  place(1n, 'new');
  expect(ids.find(digest)?.orderId).toBe(1);
  const cold = opened();
  cold.place(1n, 'new');
  cold.place(1n, 'new');
  expect(cold.ids.find(digest)?.orderId).toBe(1);
});

test('signed orders with one digest are found alike, also when one of them is gone', () => {
  const digest = 'ab'.repeat(32);
  const { signed, place, end, forget } = opened();
  const [first, second, third] = [place(1n, 'new'), place(2n, 'new'), place(3n, 'new')];
  for (const { orderId: id } of [first, second, third]) signed.remember(orderId(id), [digest]);
  expect(signed.find(digest)?.orderId).toBe(1);
  end(first);
  end(third);
  expect(signed.find(digest)?.orderId).toBe(2);
  forget(first);
  expect([...signed.entries()].map(([id]) => id)).toEqual([2, 3]);
  expect(signed.find(digest)?.orderId).toBe(2);
  forget(third);
  expect([...signed.entries()].map(([id]) => id)).toEqual([2]);
  expect(signed.find(digest)?.orderId).toBe(2);
  forget(second);
  expect([...signed.entries()]).toEqual([]);
});
