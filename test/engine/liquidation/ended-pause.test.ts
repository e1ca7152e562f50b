/** A pause ends with its liquidation: a later one has a pause of its own (D-57). */
import { expect, test } from 'vitest';
import { RiskWorld } from '../risk-world.ts';

test('the end of a pause whose liquidation is over checks no unit', () => {
  const world = new RiskWorld([{ maintenanceMargin: '0.1' }], {
    partialLiquidationNotional: '100',
  });
  world.fund({ ann: '100', bob: '1000000', cat: '1000000' });
  world.price('100');
  world.trade('ann', 'bob', '10', '100');
  world.order('cat', '1000', '96');
  world.order('cat', '2', '97');
  const stepsAfter = (act: () => unknown): string[] => {
    const { length } = world.events;
    act();
    return world.events
      .slice(length)
      .flatMap((event) => (event.kind === 'liquidationStep' ? [event.step] : []));
  };
  // The first liquidation pauses until 30 s, and ends at 1 s.
  expect(stepsAfter(() => world.price('97'))).toEqual(['order']);
  world.wait(1000);
  expect(stepsAfter(() => world.price('100'))).toEqual(['safe']);
  // So that hosts, which wake it by its timers, journal the same commands.
  expect(world.engine.nextTimerUs()).toBe(world.engine.fork().nextTimerUs());
  // The second one pauses until 40 s. A deposit makes its owner safe.
  world.wait(9000);
  expect(stepsAfter(() => world.price('96'))).toEqual(['order']);
  world.deposit('ann', '10');
  const restored = world.engine.fork();
  expect(stepsAfter(() => world.wait(29_999))).toEqual([]);
  expect(stepsAfter(() => world.wait(1))).toEqual(['safe']);
  for (const command of world.commands.slice(-2)) restored.apply(command);
  expect(restored.chainHash()).toBe(world.engine.chainHash());
});
