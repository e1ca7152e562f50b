/**
 * Units that wait for a thaw cost the marks of other markets nothing: 4,000 of them, which
 * one owner can have for a few thousand USD, had held each mark for 30 ms. A credit tests its
 * receiver again.
 */
import { afterAll, expect, test, vi } from 'vitest';
import { AttackWorld, expectOracleAgrees } from '../../attacks/world.ts';
import { stateOf } from '../invariants/planted.ts';

afterAll(expectOracleAgrees);

/** Owners with a gain in S and less than nothing in cash. S is frozen: little of the gain counts. */
function frozen(count: number): AttackWorld {
  const terms = { initialMargin: '0.1', maintenanceMargin: '0.05', priceBand: '1' };
  const world = new AttackWorld(['A', 'S'].map((symbol) => ({ symbol, ...terms })));
  world.fund({ hal: '1000000', pal: '1000000' });
  for (const symbol of ['A', 'S']) world.price('100', symbol);
  for (let i = 0; i < count; i++) {
    world.fund({ [`owner${String(i)}`]: '1000' });
    world.trade(`owner${String(i)}`, 'hal', '10', '100', 'S');
  }
  world.run(30_000, { A: '100', S: '200' });
  for (let i = 0; i < count; i++) {
    world.trade(`owner${String(i)}`, 'pal', '20', '152.5', 'A');
    world.trade(`owner${String(i)}`, 'pal', '-20', '100', 'A');
  }
  world.run(63_000, { A: '100' });
  return world;
}

/** Subaccounts that are tested at a mark of A. */
function testsAtMark(count: number): number {
  const world = frozen(count);
  const drain = vi.spyOn(stateOf(world.engine), 'drainRiskChecks');
  world.price('101', 'A');
  const tested = drain.mock.results.map(({ value }) => (value as readonly unknown[]).length);
  drain.mockRestore();
  return tested.reduce((sum, length) => sum + length, 0);
}

test('a mark tests as many owners beside 40 that wait as beside 5', () => {
  expect(testsAtMark(40)).toBe(testsAtMark(5));
});

test('a deposit ends the liquidation of a unit that waits, at the next mark', () => {
  const world = frozen(2);
  const { length } = world.events;
  expect(world.steps()).toEqual([]);
  world.deposit('owner0', '500');
  world.price('101', 'A');
  expect(world.steps(length)).toEqual(['owner0 safe']);
});
