/**
 * Remaining risk: an impact price is found within 256 levels. Pat is long 20 A and pays
 * funding to Hal, since Mia bids 0.5 % above the index. Eve, of Pat's owner, has 200 USD and bids one
 * lot at each of 256 ticks above Mia's bid. The side is too thin then, so there is no sample: the
 * rate is 0, and the mark is the index.
 *
 * Whoever sells to these bids gains: all of them are 1,030 USD, above the index.
 */
import { afterAll, expect, test } from 'vitest';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

/** Each minute a sixtieth of an hour's funding of some 450. */
const FUNDING = { intervalMs: 60_000, divisor: 480 };

test.each([
  { levels: 255, paid: '199962.392', mark: 40_178 },
  { levels: 256, paid: '200000', mark: 40_000 },
])('$levels levels of one lot: Pat has $paid after five minutes', ({ levels, paid, mark }) => {
  const world = new AttackWorld([{ symbol: 'A', funding: FUNDING }]);
  world.fund({ pat: '200000', hal: '200000', mia: '100000', max: '100000', eve: '200' });
  world.price('40000', 'A');
  world.trade('pat', 'hal', '20', '40000', 'A');
  world.quote('mia', 'max', '1', '40200', '40240', 'A');
  for (let i = 1; i <= levels; i++) {
    world.order('eve', '0.0001', (40_200 + i / 10).toFixed(1), { symbol: 'A' });
  }
  world.run(300_000, { A: '40000' });
  expect(world.engine.openOrders(world.idOf('eve'))).toHaveLength(levels);
  expect([world.balance('pat'), Math.trunc(world.markOf('A'))]).toEqual([paid, mark]);
});
