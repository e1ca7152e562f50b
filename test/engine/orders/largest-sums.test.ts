/**
 * Sums of lots stay safe integers (D-4), in a market whose orders may have 2^53 − 1 of them. Beyond
 * it sums were rounded: snapshots failed, and a cancel ended the exchange.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { Exchange } from '../../../src/engine/exchange.ts';
import { AttackWorld, expectOracleAgrees } from '../../attacks/world.ts';

afterAll(expectOracleAgrees);

const MOST = String(Number.MAX_SAFE_INTEGER);
const LESS = String(Number.MAX_SAFE_INTEGER - 1);
const AT = '0.0001';

function worldOfLargeOrders(): AttackWorld {
  const world = new AttackWorld([
    {
      ...{ symbol: 'M', tickSize: '0.000001', lotSize: '1', maxPrice: '0.001' },
      ...{ maxQuantity: MOST, maxOpenInterest: MOST, markSource: 'index' },
    },
  ]);
  const funds = '400000000000';
  world.fund({ alice: funds, bob: funds, carol: funds });
  world.price(AT);
  return world;
}

const shown = (record: ReturnType<AttackWorld['order']>): string =>
  typeof record === 'string' ? record : `${record.status} ${String(record.reason)}`;

/** A snapshot can be taken, and the restored exchange is the same after all orders end. */
function expectRestores(world: AttackWorld): void {
  const copy = Exchange.restore(world.engine.snapshot());
  expect(copy.stateHash()).toBe(world.engine.stateHash());
  for (const who of ['alice', 'bob', 'carol']) world.cancelAll(who);
  expect(world.engine.depth(world.marketOf('M'), 'bid', 10)).toEqual([]);
}

describe('D-4: sums of lots are at most 2^53 − 1', () => {
  test('bids of one subaccount', () => {
    const world = worldOfLargeOrders();
    expect(shown(world.order('alice', LESS, AT))).toBe('new null');
    expect(shown(world.order('alice', '2', '0.000099'))).toBe('rejected openInterest');
    expect(shown(world.order('alice', '1', '0.000099'))).toBe('new null');
    expectRestores(world);
  });

  test('bids and the position that they enlarge; the other side still closes it', () => {
    const world = worldOfLargeOrders();
    world.trade('alice', 'bob', LESS, AT);
    expect(shown(world.order('alice', '2', '0.000099'))).toBe('rejected openInterest');
    expect(shown(world.order('alice', '1', '0.000099'))).toBe('new null');
    world.trade('alice', 'bob', `-${LESS}`, AT);
    expect(world.position('alice')).toBeUndefined();
    expectRestores(world);
  });

  test('orders of several users at one price: the rest that has no room there is cancelled', () => {
    const world = worldOfLargeOrders();
    expect(shown(world.order('alice', LESS, AT))).toBe('new null');
    expect(shown(world.order('bob', '2', AT))).toBe('cancelled openOrders');
    expect(shown(world.order('bob', '1', AT))).toBe('new null');
    expect(shown(world.order('carol', '1', AT))).toBe('cancelled openOrders');
    expect(shown(world.order('carol', '1', '0.000099'))).toBe('new null');
    expectRestores(world);
  });

  test('reduce-only orders, which need no margin', () => {
    const world = worldOfLargeOrders();
    world.trade('alice', 'bob', '1', AT);
    const flags = { ioc: false, postOnly: false, reduceOnly: true };
    expect(shown(world.order('alice', `-${MOST}`, AT, { flags }))).toBe('new null');
    expect(shown(world.order('alice', '-1', AT, { flags }))).toBe('cancelled openOrders');
    expectRestores(world);
  });
});
