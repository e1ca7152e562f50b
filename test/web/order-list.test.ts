/** The list of orders against a plain one that filters and sorts all records at each change. */
import { expect, test } from 'vitest';
import { isOpen, OrderList, unfilledText, type Order } from '../../src/web/exchange/order-list.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';

const STATUSES = ['new', 'partiallyFilled', 'pending', 'filled', 'cancelled'] as const;

class PlainList {
  private readonly known = new Map<string, Order>();

  take(read: readonly Order[]): void {
    for (const order of read) {
      const old = this.known.get(order.orderId);
      if (old === undefined || old.lastUpdateSequenceNumber <= order.lastUpdateSequenceNumber) {
        this.known.set(order.orderId, order);
      }
    }
  }

  get open(): Order[] {
    const open = [...this.known.values()].filter(isOpen);
    return open.sort(
      (a, b) => b.createdAt - a.createdAt || a.nonce - b.nonce || (a.orderId < b.orderId ? -1 : 1),
    );
  }

  get past(): Order[] {
    const past = [...this.known.values()].filter((order) => !isOpen(order));
    return past.sort((a, b) => b.updatedAt - a.updatedAt || (a.orderId < b.orderId ? -1 : 1));
  }

  sizeAt(symbol: string, side: 'bid' | 'ask', price: string): number {
    return this.open
      .filter(({ quantity }) => quantity.startsWith('-') === (side === 'ask'))
      .filter((order) => order.symbol === symbol && order.price === price)
      .filter(({ status }) => status !== 'pending')
      .reduce((sum, { remaining }) => sum + Math.abs(Number(remaining)), 0);
  }
}

/** Few ids, times and prices, so that records of one order and equal times are frequent. */
function changes(seed: string, count: number): Order[][] {
  const random = new RandomStreams(seed).stream('orders');
  const below = (limit: number): number => random.below(limit);
  return Array.from({ length: count }, () =>
    Array.from({ length: below(20) === 0 ? 250 : below(6) }, () => {
      const id = below(120);
      return {
        orderId: String(id).padStart(4, '0'),
        nonce: id % 3,
        createdAt: id % 7,
        updatedAt: below(9),
        lastUpdateSequenceNumber: below(50),
        status: STATUSES[below(STATUSES.length)],
        symbol: id % 2 === 0 ? 'A' : 'B',
        quantity: id % 5 === 0 ? '-3' : '3',
        remaining: String(below(4)),
        price: String(100 + (id % 4)),
        groupId: id % 10 === 0 ? 'group' : null,
      } as unknown as Order;
    }),
  );
}

test('the lists and the sizes of levels are those of a plain list', () => {
  const plain = new PlainList();
  const list = new OrderList();
  for (const [i, read] of changes('1', 400).entries()) {
    plain.take(read);
    list.take(read);
    expect(list.open, `change ${String(i)}`).toEqual(plain.open);
    expect(list.past, `change ${String(i)}`).toEqual(plain.past);
    for (const price of ['100', '101', '102', '103']) {
      for (const symbol of ['A', 'B']) {
        for (const side of ['bid', 'ask'] as const) {
          expect(list.sizeAt(symbol, side, price)).toBe(plain.sizeAt(symbol, side, price));
        }
      }
    }
  }
  expect([...list.group('group')].length).toBe(12);
});

test('a change of one of 10,000 orders leaves the others where they are', () => {
  const order = (i: number, seq: number) =>
    ({
      ...changes('2', 1)[0]?.[0],
      orderId: String(i).padStart(6, '0'),
      createdAt: i,
      nonce: i,
      status: 'new',
      symbol: 'A',
      quantity: '1',
      price: '1',
      remaining: '1',
      groupId: null,
      lastUpdateSequenceNumber: seq,
    }) as unknown as Order;
  const list = new OrderList();
  list.take(Array.from({ length: 10_000 }, (_, i) => order(i, 1)));
  const before = list.open;
  list.take([order(5000, 2)]);
  expect(list.open.length).toBe(10_000);
  expect(list.open.filter((one, i) => one !== before[i]).length).toBe(1);
  list.take([order(5000, 1)]);
  expect(list.open.find(({ orderId }) => orderId === '005000')?.lastUpdateSequenceNumber).toBe(2);
});

test('ended orders beyond a limit are forgotten, open ones never', () => {
  const list = new OrderList();
  const base = { nonce: 1, symbol: 'A', quantity: '1', price: '1', remaining: '0', groupId: null };
  list.take(
    Array.from(
      { length: 3000 },
      (_, i) =>
        ({
          ...base,
          orderId: String(i).padStart(4, '0'),
          createdAt: i,
          updatedAt: i,
          lastUpdateSequenceNumber: i,
          status: i % 2 === 0 ? 'new' : 'filled',
        }) as unknown as Order,
    ),
  );
  expect(list.open.length).toBe(1500);
  expect(list.past.length).toBe(1000);
  expect(list.past[0]?.updatedAt).toBe(2999);
});

test('a group keeps all of its parts while one is open, then those of the lists', () => {
  const part = (groupId: string, i: number, status: string) =>
    ({
      nonce: 1,
      symbol: 'A',
      quantity: '1',
      price: '1',
      remaining: '0',
      orderId: `${groupId} ${String(i).padStart(4, '0')}`,
      createdAt: i,
      updatedAt: i,
      status,
      groupId,
      lastUpdateSequenceNumber: status === 'new' ? 1 : 2,
    }) as unknown as Order;
  const parts = (groupId: string, from: number, count: number): Order[] =>
    Array.from({ length: count }, (_one, i) => part(groupId, from + i, 'filled'));
  const sizeOf = (groupId: string): number => [...list.group(groupId)].length;
  const list = new OrderList();
  list.take([part('a', 5000, 'new'), ...parts('a', 0, 600), ...parts('b', 600, 900)]);
  expect([sizeOf('a'), sizeOf('b')]).toEqual([601, 900]);
  list.take([part('a', 5000, 'filled')]);
  expect([sizeOf('a'), sizeOf('b')]).toEqual([100, 900]);
  list.take(parts('c', 6000, 1000));
  expect([sizeOf('a'), sizeOf('b'), sizeOf('c')]).toEqual([0, 0, 1000]);
});

test('names what was not filled of the orders that ended', () => {
  const order = (status: string, remaining: string, reason: string | null): Order =>
    ({ status, remaining, reason }) as Order;
  expect(unfilledText([order('new', '0.5', null), order('pending', '1', null)])).toBe('');
  expect(unfilledText([order('filled', '0.0', null)])).toBe('');
  expect(unfilledText([order('cancelled', '-0.3', 'iocRemainder')])).toBe(
    '0.3 not filled (iocRemainder)',
  );
  const parts = [order('cancelled', '1', 'selfTrade'), order('cancelled', '1', 'selfTrade')];
  expect(unfilledText(parts)).toBe('1 not filled (selfTrade)');
});
