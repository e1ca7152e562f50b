import { expect, test } from 'vitest';
import { compareOrders, type ComparedOrder } from '../../src/live/compare-runs.ts';
import { pairOrders } from '../../src/live/pair-orders.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';

const order = (side: 'buy' | 'sell', size: string, price: string): ComparedOrder => ({
  ...{ symbol: 'T', side, orderType: 'limit', size, price },
  ...{ sentUs: 0, status: 'filled', filled: 1, averagePrice: 1, firstFillUs: 0 },
});

/** Sides that alternate; prices that rise. */
const quotes = (count: number, size = (_i: number) => '1'): ComparedOrder[] =>
  Array.from({ length: count }, (_, i) =>
    order(i % 2 === 0 ? 'buy' : 'sell', size(i), String(100 + i)),
  );

const counts = (left: readonly ComparedOrder[], right: readonly ComparedOrder[]) => {
  const { pairs, leftOnly, rightOnly } = compareOrders(left, right);
  const differing = pairs.filter(({ differences }) => differences.length > 0).length;
  return [pairs.length, differing, leftOnly.length, rightOnly.length];
};

const without = (orders: readonly ComparedOrder[], ...places: readonly number[]) =>
  orders.filter((_order, i) => !places.includes(i));

test.each([
  ['of one size', quotes(300)],
  ['of many sizes', quotes(300, (i) => String(i + 1))],
] as const)('orders %s that one run lacks move no other pair', (_name, all) => {
  expect(counts(all, all)).toEqual([300, 0, 0, 0]);
  expect(counts(all, without(all, 0))).toEqual([299, 0, 1, 0]);
  expect(counts(without(all, 0), all)).toEqual([299, 0, 0, 1]);
  expect(counts(all.slice(120), all)).toEqual([180, 0, 0, 120]);
  expect(counts(without(all, 7, 8, 200), without(all, 90))).toEqual([296, 0, 1, 3]);
});

test('an order with another price is a pair that differs', () => {
  const all = quotes(9);
  const moved = all.map((one, i) => (i === 4 ? { ...one, price: '9' } : one));
  expect(counts(all, moved)).toEqual([9, 1, 0, 0]);
  const cheaper = all.map((one) => ({ ...one, price: String(Number(one.price) - 0.5) }));
  expect(counts(cheaper, all)).toEqual([9, 9, 0, 0]);
  expect(counts(cheaper.slice(1), all)).toEqual([8, 8, 0, 1]);
});

test('long runs that differ everywhere are aligned in blocks', () => {
  const all = quotes(9000);
  const gone = all.filter((_order, i) => i % 37 !== 0);
  expect(counts(all, gone)).toEqual([gone.length, 0, 9000 - gone.length, 0]);
  const cheaper = all.map((one) => ({ ...one, price: '1' }));
  expect(counts(cheaper, all)).toEqual([9000, 9000, 0, 0]);
  const sells = all.map((one) => ({ ...one, orderType: 'twap' }));
  expect(counts(sells, all)).toEqual([0, 0, 9000, 9000]);
});

test('no pairing without crossing is better, by trial of all', () => {
  const random = new RandomStreams('3').stream('orders');
  const pick = (): ComparedOrder =>
    order(random.below(2) === 0 ? 'buy' : 'sell', '1', random.below(2).toString());
  const value = (a: ComparedOrder, b: ComparedOrder): number =>
    a.side !== b.side ? 0 : a.price === b.price ? 2 : 1;
  const best = (a: readonly ComparedOrder[], b: readonly ComparedOrder[]): number => {
    const [x, y] = [a[0], b[0]];
    if (x === undefined || y === undefined) return 0;
    const [restA, restB] = [a.slice(1), b.slice(1)];
    return Math.max(value(x, y) + best(restA, restB), best(restA, b), best(a, restB));
  };
  for (let i = 0; i < 200; i++) {
    const left = Array.from({ length: random.below(6) }, pick);
    const right = Array.from({ length: random.below(6) }, pick);
    const pairs = pairOrders(left, right);
    const found = pairs.reduce((sum, [x, y]) => sum + value(left[x]!, right[y]!), 0);
    expect(found).toBe(best(left, right));
    expect([...pairs].sort(([a], [b]) => a - b)).toEqual(pairs);
    expect([...pairs].sort(([, a], [, b]) => a - b)).toEqual(pairs);
  }
});
