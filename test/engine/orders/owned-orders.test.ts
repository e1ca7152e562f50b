/** Orders are listed by market, so that a cancellation in one market visits none of another. */
import { expect, test, vi } from 'vitest';
import { ownedOrders } from '../../../src/engine/orders/owned-orders.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld } from '../risk-world.ts';

const OTHERS = 40;

/** Orders of one account: one in N, then many in M, then one in N. */
function sceneOf() {
  const world = new RiskWorld([{ symbol: 'M' }, { symbol: 'N' }]);
  world.fund({ ann: '1000000' });
  world.price('100', 'M');
  world.price('100', 'N');
  world.order('ann', '1', '90', { symbol: 'N' });
  for (let i = 0; i < OTHERS; i++) world.order('ann', '1', '90', { symbol: 'M' });
  world.order('ann', '1', '91', { symbol: 'N' });
  const state = stateOf(world.engine);
  return { world, state, subaccount: state.subaccount(world.idOf('ann')) };
}

test('orders of one market are found without those of others, all of them by id', () => {
  const { world, state, subaccount } = sceneOf();
  const ids = (slots: readonly number[]): number[] => slots.map((slot) => state.orders.id(slot));
  const visits = vi.spyOn(state.orders, 'nextOfOwner');
  expect(ids(ownedOrders(state, subaccount, world.marketOf('N')))).toEqual([1, OTHERS + 2]);
  expect(visits).toHaveBeenCalledTimes(2);
  expect(ids(ownedOrders(state, subaccount))).toEqual(
    Array.from({ length: OTHERS + 2 }, (_, i) => i + 1),
  );
  expect(subaccount.orderCount).toBe(OTHERS + 2);
});

test('an order that is missing in the count or in a list violates an invariant', () => {
  const { world, state, subaccount } = sceneOf();
  expect(world.engine.checkInvariants()).toEqual([]);
  subaccount.orderCount -= 1;
  expect(world.engine.checkInvariants()).not.toEqual([]);
  subaccount.orderCount += 1;
  const [slot = 0] = ownedOrders(state, subaccount);
  const here = subaccount.exposure(world.marketOf('N'));
  const other = subaccount.exposure(world.marketOf('M'));
  state.orders.unlinkOwner(here.orders, slot);
  state.orders.linkOwner(other.orders, slot);
  expect(world.engine.checkInvariants()).not.toEqual([]);
});
