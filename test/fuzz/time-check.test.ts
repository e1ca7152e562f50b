/** The check of steps of time restores its twin a microsecond before the end of a pause. */
import { afterEach, expect, test, vi } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { timeCheck } from '../../src/fuzz/checks/time-check.ts';
import { stateOf } from '../engine/invariants/planted.ts';
import { RiskWorld } from '../engine/risk-world.ts';

const PAUSE_MS = 30_000;

afterEach(() => {
  vi.restoreAllMocks();
});

/** A liquidation in slices, whose second one is due within a step. */
function sliced(): RiskWorld {
  const world = new RiskWorld([{}], {
    liquidationPauseMs: PAUSE_MS,
    liquidationSlice: '0.2',
    partialLiquidationNotional: '100',
  });
  world.fund({ ann: '95', cat: '1000000', dan: '1000000' });
  world.price('100');
  world.trade('ann', 'dan', '9', '100');
  world.order('cat', '50', '93');
  world.price('93');
  // A late second slice makes the third one late too.
  world.wait(PAUSE_MS + 10_000);
  world.wait(PAUSE_MS - 5000);
  return world;
}

/** The fault that the check finds in these commands, compared after each; null if they pass. */
function faultOf(world: RiskWorld): string | null {
  const { config } = world.engine;
  const engine = new Exchange(config);
  const checker = timeCheck(config, 1);
  for (const command of world.commands) {
    const outcome = engine.apply(command, (event) => checker.onEvent?.(event));
    const violation = checker.after(engine, command, outcome);
    if (violation !== null) return violation.detail;
  }
  return null;
}

test('a pause that a restore ends early is found (R-6.2, R-12.1)', () => {
  const world = sliced();
  const steps = world.events.filter(({ kind }) => kind === 'liquidationStep');
  expect(steps.length).toBeGreaterThan(2);
  expect(faultOf(world)).toBeNull();
  const restore = Exchange.restore.bind(Exchange);
  vi.spyOn(Exchange, 'restore').mockImplementation((...of) => {
    const restored = restore(...of);
    const { liquidationPauses: pauses, nowUs } = stateOf(restored);
    if (pauses.topTime() === nowUs + 1) pauses.pop();
    return restored;
  });
  expect(faultOf(world)).toContain('with each step in parts');
});
