/** Requests with a field at a bound, of a batch and of one that has no orders. */
import { expect, test } from 'vitest';
import { Dice } from '../../src/fuzz/dice.ts';
import { alteredRequest } from '../../src/fuzz/twin/altered-request.ts';

const ORDER = { symbol: 'BTC-USD-PERP', quantity: '1' };

test('a batch has one altered order, and is altered itself without orders', () => {
  const dice = Dice.of('batches', 'altered');
  for (let i = 0; i < 50; i += 1) {
    const batch = { account: '0x01', orders: [ORDER, ORDER] };
    const altered = alteredRequest('submitOrders', batch, dice);
    const orders = altered['orders'] as readonly Record<string, unknown>[];
    expect(orders).toHaveLength(2);
    const isAltered = ({ symbol, quantity, ...others }: Record<string, unknown>): boolean =>
      symbol !== ORDER.symbol || quantity !== ORDER.quantity || Object.keys(others).length > 1;
    expect(orders.filter(isAltered)).toHaveLength(1);
    const empty = alteredRequest('submitOrders', { ...batch, orders: [] }, dice);
    expect(empty).not.toEqual({ ...batch, orders: [] });
  }
});
