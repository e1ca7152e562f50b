/** A clearing of many units at once visits each holder a few times, whatever their number. */
import { expect, test, vi } from 'vitest';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld } from '../risk-world.ts';

/** Accounts visited for each of `count` longs that a fall takes below zero. */
function visits(count: number): number {
  const world = new RiskWorld([{ symbol: 'M', markSource: 'index' }]);
  world.checks = false;
  world.price('100');
  for (let i = 0; i < count; i++) {
    const [long, short] = [`long${String(i)}`, `short${String(i)}`];
    world.fund({ [long]: '20', [short]: '1000' });
    world.trade(long, short, '1', '100');
  }
  const state = stateOf(world.engine);
  const read = vi.spyOn(state, 'subaccount');
  world.price('50');
  const { length } = read.mock.calls;
  read.mockRestore();
  expect([...world.engine.holdersOf(world.marketOf('M'))]).toEqual([]);
  return length / count;
}

test('clearing eight times as many units visits as many accounts for each (R-6.4)', () => {
  const few = visits(25);
  expect(visits(200)).toBeLessThan(1.3 * few);
});
