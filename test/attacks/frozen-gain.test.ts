/**
 * Attack 1, variants with a gain in the stale market. A frozen gain protects fresh positions only
 * up to the frozen positions' own maintenance requirement (R-5.3b). Payments of others for the
 * deficit become a clearing debt. At the thaw the gain repays it, first to the shortfall, then to
 * insurance. Until then no money may leave and no position may open (R-6.1).
 *
 * Pat (30,000) gains 10,000 in 2.5 S, which goes stale at 44,000, and is long 25 A, which gaps by 5
 * %. Under the old rules nothing was liquidated, as in immunity.test.ts.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { coalition } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

/** `other` has the other side of A; Quinn that of the stale markets. */
function opened(other: string, silent: readonly string[] = ['S']): AttackWorld {
  const world = new AttackWorld([{ symbol: 'A' }, ...silent.map((symbol) => ({ symbol }))]);
  world.fund({ pat: '30000', quinn: '60000', hal: '60000', dan: '100000' });
  for (const symbol of ['A', ...silent]) world.price('40000', symbol);
  for (const symbol of silent) {
    world.trade('pat', 'quinn', '2.5', '40000', symbol);
    world.price('44000', symbol);
  }
  world.trade('pat', other, '25', '40000', 'A');
  world.run(61_000, { A: '40000' });
  world.run(1000, { A: '38000' });
  expect(world.position('pat', 'A')).toBeUndefined();
  return world;
}

function expectLocked(world: AttackWorld): void {
  expect(world.withdraw('pat')).toBe('nothing withdrawable');
  expect(world.order('pat', '0.0001', '38000', { symbol: 'A' })).toMatchObject({
    status: 'rejected',
    reason: 'insufficientMargin',
  });
}

describe('one owner has both sides of every position', () => {
  test.each([
    // 18,900 were paid for Pat; the remaining gain at the thaw, 8,900, is repaid.
    ['44000', '0', '81100', '8900'],
    // The gain is lost at the thaw. Quinn has won it, and is charged for the debt (D-75).
    ['40000', '0', '81100', '8900'],
    ['30000', '0', '81100', '8900'],
  ])('S thaws at %s: Pat has %s, Quinn %s, insurance %s', (thaw, pat, quinn, insurance) => {
    const world = opened('quinn');
    // 30,000 − 50,000 + 18,900 from Quinn: 0 together with 1,100 of the gain.
    expect(world.balance('pat')).toBe('-1100');
    expectLocked(world);
    world.run(1000, { S: thaw });
    const left = [world.equity('pat'), world.equity('quinn'), world.balance('insurance')];
    expect(left).toEqual([pat, quinn, insurance]);
    expect(coalition(world, ['pat', 'quinn']).loot <= 0n).toBe(true);
    expect([world.equity('dan'), world.shortfall()]).toEqual(['100000', '0']);
  });
});

describe('an honest trader has the other side of A', () => {
  test('a frozen gain repays the payers of the deficit', () => {
    const world = opened('hal');
    // Hal: 60,000 + 50,000 − 18,900.
    expect(world.equity('hal')).toBe('91100');
    world.run(1000, { S: '44000' });
    expect([world.equity('pat'), world.equity('quinn')]).toEqual(['0', '50000']);
    expect(world.balance('insurance')).toBe('8900');
    // Deposits 90,000; loss 40,000, of which Hal got 31,100.
    expect(coalition(world, ['pat', 'quinn']).profit).toBe(-40_000_000_000n);
  });

  test('a gain that grows while frozen repays the whole debt and keeps the rest', () => {
    const world = opened('hal');
    world.run(1000, { S: '60000' });
    // −1,100 + 50,000 − 18,900.
    expect(world.equity('pat')).toBe('30000');
    expect(world.balance('insurance')).toBe('18900');
    expect(world.position('pat', 'S')).toBeDefined();
  });

  test('two stale markets: each thaw repays a part of the debt', () => {
    const world = opened('hal', ['S', 'T']);
    // 30,000 − 50,000 + 17,800 with 2,200 of the two gains is 0.
    expect([world.balance('pat'), world.equity('hal')]).toEqual(['-2200', '92200']);
    expectLocked(world);
    world.run(1000, { A: '38000', S: '44000' });
    expectLocked(world);
    expect(world.transfer('pat', 'quinn', '1')).not.toBe('ok');
    world.run(1000, { T: '44000' });
    expect(world.equity('pat')).toBe('0');
    // All 17,800: 7,800 at the first thaw, a liquidation fee of 550, and 9,450 at the second.
    expect(world.balance('insurance')).toBe('17800');
    expect(world.equity('quinn')).toBe('40000');
  });
});
