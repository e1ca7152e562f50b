/**
 * Attack 6, what remains of it (decision 0122). Quotes hold the mark 0.5 % above the index while the
 * vault takes 15 A over, and then stand just below its closing order. It sells nothing, and pays
 * funding on their premium to Xan, of the same owner. A divisor of 8 makes a rate of an hour out of
 * one of eight hours, whatever the interval. So an interval of a minute costs 60 times as much,
 * unless the divisor is 480.
 */
import { afterAll, expect, test } from 'vitest';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const MINUTE = 60_000;

/** At 1:00, the vault has 100,000 and the position. */
function held(funding: Record<string, unknown>): AttackWorld {
  const world = new AttackWorld([{ symbol: 'A', funding }]);
  world.fund({ vera: '100000', pat: '14500', xan: '60000', eve: '60000', ed: '60000' });
  world.price('40000', 'A');
  world.transfer('vera', 'vault', '100000');
  world.quote('eve', 'ed', '1', '40201', '40230', 'A');
  world.run(20 * MINUTE, { A: '40000' });
  world.cancelAll('eve');
  world.cancelAll('ed');
  world.trade('pat', 'xan', '15', '40160', 'A');
  world.price('39250', 'A');
  world.quote('eve', 'ed', '1', '39460', '39480', 'A');
  world.run(40 * MINUTE, { A: '39250' });
  return world;
}

const position = (world: AttackWorld) => world.engine.positions(world.idOf('vault'))[0];
const paid = (world: AttackWorld): number => -Number(position(world)?.fundingQuanta ?? 0) / 1e6;

test.each([
  [{}, 356],
  [{ intervalMs: MINUTE }, 21_417],
  [{ intervalMs: MINUTE, divisor: 480 }, 356],
])('funding %j costs the vault %d an hour', (funding, expected) => {
  const world = held(funding);
  const before = paid(world);
  world.run(60 * MINUTE, { A: '39250' });
  expect(position(world)?.lots).toBe(150_000);
  expect(Math.floor(paid(world) - before)).toBe(expected);
});

test('with an interval of a minute and a divisor of 8, the vault is empty after 280 minutes', () => {
  const world = held({ intervalMs: MINUTE });
  world.run(220 * MINUTE, { A: '39250' });
  expect(position(world)?.lots).toBe(150_000);
  world.run(20 * MINUTE, { A: '39250' });
  expect(position(world)).toBeUndefined();
  expect([world.equity('vault'), world.shortfall()]).toEqual(['0', '0']);
  // 60,000, 13,650 from its short, and 98,151 of funding.
  expect(Math.floor(Number(world.equity('xan')))).toBe(171_801);
});

// Remaining risk: the price of a share leaves out the funding of the current interval.
test('a deposit before a settlement shares in funding of the whole hour', () => {
  const world = new AttackWorld([{ symbol: 'A', funding: { source: 'external' } }]);
  world.fund({ vera: '100000', pat: '12000', xan: '60000', dora: '900000' });
  world.price('40000', 'A');
  world.transfer('vera', 'vault', '100000');
  world.trade('pat', 'xan', '15', '40000', 'A');
  world.price('39400', 'A');
  expect(world.equity('vault')).toBe('102955');
  expect(world.transfer('dora', 'vault', '900000')).toBe('ok');
  world.settle('-0.0075', 'A');
  expect(world.equity('vault')).toBe('1007387.5');
  // 89.7 % of the 4,432.5 are Dora's.
  const last = world.events.findLast((event) => event.kind === 'vaultSharesChanged');
  expect(last && (last.shares * 1000n) / last.totalShares).toBe(897n);
  expect(world.transfer('vault', 'dora', '900000')).toContain('locked');
});
