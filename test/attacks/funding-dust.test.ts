/**
 * Orders of one lot that were to end the samples of funding (R-7.1, decision 0156). Pat is long 20 A
 * and pays funding to Hal, since Mia bids 0.5 % above the index. Eve, of Pat's owner, has 200 USD and
 * bids one lot at each of 256 ticks above Mia's bid, or 1,000 times at one of them. All of them are
 * 1,030 or 4,020 USD. The side was too thin then, so there was no sample, and Pat paid nothing.
 *
 * The samples are of Mia's bid alone now. The mark takes the side as too thin, and is the index.
 */
import { afterAll, expect, test } from 'vitest';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

/** Each minute a sixtieth of an hour's funding of some 450. */
const FUNDING = { intervalMs: 60_000, divisor: 480 };

test.each([
  { orders: 255, ticks: 255, paid: '199992.4784', mark: 40_071 },
  { orders: 256, ticks: 256, paid: '199992.5', mark: 40_000 },
  { orders: 1000, ticks: 1, paid: '199992.5', mark: 40_000 },
])('$orders orders of one lot at $ticks ticks: Pat has $paid', ({ orders, ticks, paid, mark }) => {
  const world = new AttackWorld([{ symbol: 'A', funding: FUNDING }]);
  world.fund({ pat: '200000', hal: '200000', mia: '100000', max: '100000', eve: '200' });
  world.price('40000', 'A');
  world.trade('pat', 'hal', '20', '40000', 'A');
  world.quote('mia', 'max', '1', '40200', '40240', 'A');
  for (let from = 0; from < orders; from += 100) {
    const batch = Array.from({ length: Math.min(100, orders - from) }, (_, i) => {
      const price = (40_200 + (((from + i) % ticks) + 1) / 10).toFixed(1);
      return world.orderBody('eve', { symbol: 'A', quantity: '0.0001', price });
    });
    world.ask('submitOrders', { orders: batch }, 'eve');
  }
  world.run(60_000, { A: '40000' });
  expect(world.engine.openOrders(world.idOf('eve'))).toHaveLength(orders);
  expect([world.balance('pat'), Math.trunc(world.markOf('A'))]).toEqual([paid, mark]);
});
