/**
 * Pat is long 25 S against Quinn and long B against Yves, all of one owner. S gains 100,000, B
 * loses as much, then S goes stale. Pat's frozen gain no longer counts, B is closed, and payments
 * of insurance and the shortfall for it are Pat's debt. In the frozen market Pat then sold
 * S back to Quinn at the original price. Pat had no repayable equity and no frozen position left,
 * so the debt was written off.
 *
 * Now a debtor cannot sell below the mark, nor buy above it, in a frozen market.
 */
import { afterAll, expect, test } from 'vitest';
import { priceTicks as ticks } from '../../src/num/units.ts';
import { dollars } from '../engine/risk-world.ts';
import { coalition } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const ALL = ['pat', 'quinn', 'yves'];

function indebted(side: 1 | -1): AttackWorld {
  const world = new AttackWorld([{ symbol: 'B' }, { symbol: 'S' }]);
  world.deposit('insurance', '40000');
  world.fund({ pat: '60000', quinn: '160000', yves: '60000', dan: '1000000' });
  for (const symbol of ['B', 'S']) world.price('40000', symbol);
  const size = side > 0 ? '30' : '-30';
  world.trade('pat', 'quinn', size, '40000', 'S');
  world.trade('pat', 'yves', size, '40000', 'B');
  for (const step of [1, 2, 3, 4]) {
    world.price(String(40_000 + side * step * 1000), 'S');
    world.price(String(40_000 - side * step * 1000), 'B');
  }
  expect(world.equity('pat')).toBe('60000');
  world.run(61_000, { B: String(40_000 - side * 4000) });
  expect(world.position('pat', 'B')).toBeUndefined();
  return world;
}

test.each([1, -1] as const)(
  'side %i: the gain of a debtor goes only to the payers of its debt',
  (side) => {
    const world = indebted(side);
    const size = side > 0 ? '-30' : '30';
    const flags = { ioc: false, postOnly: false, reduceOnly: true };
    for (const away of [4000, 3900, 3000, 2000, 1000, 100, 0.1]) {
      const price = String(40_000 + side * (4000 - away));
      world.order('quinn', size.startsWith('-') ? '30' : '-30', price, { symbol: 'S', flags });
      world.order('pat', size, price, { symbol: 'S', flags: { ...flags, ioc: true } });
      world.cancelAll('quinn');
      world.order('pat', size, price, { symbol: 'S', flags });
      world.order('quinn', size.startsWith('-') ? '30' : '-30', price, { symbol: 'S', flags });
      world.cancelAll('quinn');
      world.cancelAll('pat');
    }
    world.price(String(40_000 + side * 4000), 'S');
    expect([world.shortfall(), world.balance('insurance')]).toEqual(['0', '40000']);
    expect(dollars(coalition(world, ALL).profit)).toBe('0');
  },
);

/**
 * The same owner, and the price of S falls back while S is frozen. Quinn wins it back, but the debt
 * that Pat's gain would have paid was written off. Without the freeze, Quinn would have been charged
 * for the deficit of B.
 *
 * Now the debt is recalled at the thaw, up to what Pat lost in S by it (D-75).
 */
test.each([
  { back: 42_000, won: 'nothing' },
  { back: 41_000, won: '30,000' },
  { back: 40_000, won: '46,800' },
  { back: 36_000, won: '46,800' },
])('a frozen gain that is lost at the thaw, at $back: won $won, now nothing', ({ back }) => {
  for (const side of [1, -1] as const) {
    const world = indebted(side);
    expect(world.shortfall()).toBe(side > 0 ? '-36800' : '-39200');
    world.price(String(side > 0 ? back : 80_000 - back), 'S');
    expect([world.shortfall(), world.balance('insurance')]).toEqual(['0', '40000']);
    expect(dollars(coalition(world, ALL).profit)).toBe('0');
  }
});

test('a debtor whose market is delisted at a lost gain', () => {
  const world = indebted(1);
  world.price('40000', 'B');
  const market = world.marketOf('S');
  const priceTicks = ticks(400_000);
  const outcome = world.apply({ kind: 'delistMarket', timeUs: world.now, market, priceTicks });
  expect(outcome).toBe('ok');
  expect([world.shortfall(), world.balance('insurance')]).toEqual(['0', '40000']);
  expect(dollars(coalition(world, ALL).profit)).toBe('0');
});

test('a halt ends at a lost gain', () => {
  const world = indebted(1);
  world.status('S', 'halted');
  world.price('40000', 'S');
  expect(world.position('pat', 'S')?.quantity).toBe('30');
  world.status('S', 'open');
  expect([world.shortfall(), world.balance('insurance')]).toEqual(['0', '40000']);
  expect(dollars(coalition(world, ALL).profit)).toBe('0');
});
