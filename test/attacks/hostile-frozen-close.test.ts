/**
 * A variant of attack 5. Pat (60,000) is long 7.5 S against the honest Hal and, from before the
 * freeze, long A against Quinn, a friend. The oracle of S stops and its real price falls by 20 %.
 * Closing A to Quinn far below the mark moved 24,000 … 29,600 to Quinn. The fill only reduced and
 * left Pat no worse relative to maintenance. Of the 60,000 that Hal had won at the thaw he got
 * 30,400 … 36,000.
 *
 * Now such a fill may lose, against the mark, at most half of the maintenance requirement that it
 * releases.
 */
import { afterAll, expect, test } from 'vitest';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const FLAGS = { ioc: true, postOnly: false, reduceOnly: true };

function opened(size: string): AttackWorld {
  const rates = { initialMargin: '0.1', maintenanceMargin: '0.05' };
  const world = new AttackWorld([{ symbol: 'A' }, { symbol: 'S', ...rates, priceBand: '1' }]);
  world.fund({ pat: '60000', quinn: '60000', hal: '60000', dan: '100000' });
  for (const symbol of ['A', 'S']) world.price('40000', symbol);
  world.trade('pat', 'hal', '7.5', '40000', 'S');
  world.trade('pat', 'quinn', size, '40000', 'A');
  world.run(61_000, { A: '40000' });
  return world;
}

/** Pat closes A to Quinn at the worst of these prices that is still possible. */
function closeBelow(world: AttackWorld, size: string, role: 'taker' | 'maker'): void {
  for (let price = 38_000; price <= 40_000; price += 100) {
    const sell = () =>
      world.order('pat', `-${size}`, String(price), {
        symbol: 'A',
        flags: { ...FLAGS, ioc: role === 'taker' },
      });
    if (role === 'maker') sell();
    world.order('quinn', size, String(price), { symbol: 'A' });
    if (role === 'taker') sell();
    world.cancelAll('quinn');
    world.cancelAll('pat');
    if (world.position('pat', 'A') === undefined) return;
  }
}

test.each([
  // Half of 1 % of 1.2 and 1.48 million.
  { size: '30', role: 'taker', before: '96000', after: '114000' },
  { size: '37', role: 'taker', before: '90400', after: '112600' },
  { size: '30', role: 'maker', before: '96000', after: '114000' },
] as const)('$size A closed as $role: left Hal $before, now $after', ({ size, role, after }) => {
  const world = opened(size);
  closeBelow(world, size, role);
  expect(world.position('pat', 'A')).toBeUndefined();
  world.withdraw('quinn');
  world.run(1000, { A: '40000' });
  world.price('32000', 'S');
  world.run(1000, { A: '40000' });
  expect(world.equity('hal')).toBe(after);
  expect([world.equity('dan'), world.shortfall()]).toEqual(['100000', '0']);
});

test('an exit is possible near the mark, and in the frozen market at any price', () => {
  const world = opened('30');
  world.trade('pat', 'quinn', '-1', '39850', 'A');
  expect(world.position('pat', 'A')?.quantity).toBe('29');
  // Only A is left: a fill in S is measured by maintenance, as requires.
  world.trade('pat', 'quinn', '-29', '39850', 'A');
  world.trade('hal', 'pat', '1', '37000', 'S');
  expect(world.position('pat', 'S')?.quantity).toBe('6.5');
});
