/**
 * Remaining risk: new terms that lower margins bind at once, and the mark follows at the next whole
 * second (R-5.3a, R-13.1). Quotes hold the mark 1 % above a constant index of 40,000 when rates of
 * 4 % and 2 % become 0.5 % and 0.25 %. Within that second Pat buys 100 A from Quinn at the mark,
 * with 0.52 % of margin. At the index Pat is 19,000 below zero, which insurance pays to Quinn, of the
 * same owner.
 *
 * A new initial rate that is at least the deviation in force has no such effect.
 */
import { afterAll, expect, test } from 'vitest';
import { ppm } from '../../src/num/units.ts';
import { dollars } from '../engine/risk-world.ts';
import { coalition } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

test.each([
  [5000, '19000'],
  [10_000, '-1000'],
])('an initial rate of 40,000 ppm becomes %d: one owner wins %s', (initial, loot) => {
  const rates = { initialMargin: '0.04', maintenanceMargin: '0.02' };
  const world = new AttackWorld([{ symbol: 'A', ...rates }]);
  world.fund({ pat: initial === 5000 ? '21000' : '41000', quinn: '1000000' });
  world.fund({ eve: '1000000', ed: '1000000' });
  world.deposit('insurance', '100000');
  world.price('40000', 'A');
  world.trade('eve', 'ed', '1', '40000', 'A');
  world.quote('eve', 'ed', '2', '40800', '40801', 'A');
  for (let i = 0; i < 40; i++) world.run(30_000, { A: '40000' });
  const market = world.marketOf('A');
  const { spec } = world.engine.market(market);
  const tiers = [
    { ...spec.tiers[0]!, initialMarginPpm: ppm(initial), maintenanceMarginPpm: ppm(initial / 2) },
  ];
  const cut = { ...spec, tiers, maxMarkDeviationPpm: ppm(initial / 4) };
  expect(world.apply({ kind: 'setMarketTerms', timeUs: world.now, market, spec: cut })).toBe('ok');
  world.cancelAll('eve');
  world.cancelAll('ed');
  world.trade('pat', 'quinn', '100', '40400', 'A');
  world.wait(1000);
  expect(dollars(coalition(world, ['pat', 'quinn', 'eve', 'ed']).loot)).toBe(loot);
});
