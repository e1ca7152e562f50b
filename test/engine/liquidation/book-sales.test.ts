/**
 * Sales on the book (R-6.2, step 2) of units with several positions: which is sold first, what a
 * pause holds back, and units that another step changed just before.
 */
import { expect, test } from 'vitest';
import type { Subaccount } from '../../../src/engine/accounts/subaccount.ts';
import type { State } from '../../../src/engine/state.ts';
import { quanta } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld, usd } from '../risk-world.ts';

const PAUSE_MS = 30_000;

interface Scene {
  readonly world: RiskWorld;
  readonly state: State;
  readonly cash: (who: string, amount: string) => Subaccount;
  /** The steps `who step symbol` of a check of all marked units. */
  readonly check: () => string[];
}

/** Markets M and N at 100; a price in O makes a check due. Requirements are 10 % and 5 %. */
function opened(market: Record<string, unknown> = {}, config: Record<string, unknown> = {}): Scene {
  const world = new RiskWorld(
    ['M', 'N', 'O'].map((symbol) => ({ symbol, ...market })),
    config,
  );
  world.fund({ ann: '1000', bob: '1000', cat: '1000000', dan: '1000000' });
  for (const symbol of ['M', 'N', 'O']) world.price('100', symbol);
  const state = stateOf(world.engine);
  return {
    world,
    state,
    cash: (who, amount) => {
      world.checks = false;
      const subaccount = state.subaccount(world.idOf(who));
      const size = usd(amount.replace('-', ''));
      subaccount.cash = quanta(amount.startsWith('-') ? -size : size);
      state.markForRiskCheck(subaccount);
      return subaccount;
    },
    check: () => stepsOf(world, () => world.price('100', 'O')),
  };
}

function stepsOf(world: RiskWorld, act: () => unknown): string[] {
  const { length } = world.events;
  act();
  return world.events.slice(length).flatMap((event) => {
    if (event.kind !== 'liquidationStep') return [];
    const symbol = event.market === null ? '' : ` ${world.engine.market(event.market).spec.symbol}`;
    return [`${world.nameOf(event.subaccount)} ${event.step}${symbol}`];
  });
}

const sizes = (world: RiskWorld, who: string): (string | undefined)[] =>
  ['M', 'N'].map((symbol) => world.position(who, symbol)?.quantity);

test.each([
  { cash: '40', steps: ['ann order M'] },
  { cash: '39.999999', steps: ['ann adl'] },
])('the book comes first with two thirds of the requirement of 60: $cash', ({ cash, steps }) => {
  const scene = opened({ maintenanceMargin: '0.06' });
  scene.world.trade('ann', 'dan', '10', '100');
  scene.world.order('cat', '50', '100');
  scene.cash('ann', cash);
  expect(scene.check()).toEqual(steps);
});

test('of two equal positions the older market is sold, and the other one at once if needed', () => {
  const scene = opened();
  const { world } = scene;
  for (const symbol of ['N', 'M']) {
    world.trade('ann', 'dan', '10', '100', symbol);
    world.order('cat', '50', '98', { symbol });
  }
  // 70 less 20 and a fee of 4.9 is below the requirement of the other one, 50.
  scene.cash('ann', '70');
  expect(scene.check()).toEqual(['ann order M', 'ann order N']);
  expect(sizes(world, 'ann')).toEqual([undefined, undefined]);
  expect(world.engine.nextTimerUs()).toBe(world.engine.fork().nextTimerUs());
  expect(stateOf(world.engine).liquidationPauses.size).toBe(0);
});

test('a first sale that suffices leaves the other position', () => {
  const scene = opened();
  const { world } = scene;
  for (const symbol of ['M', 'N']) {
    world.trade('ann', 'dan', '10', '100', symbol);
    world.order('cat', '50', '100', { symbol });
  }
  scene.cash('ann', '70');
  expect(scene.check()).toEqual(['ann order M', 'ann safe N']);
  expect(sizes(world, 'ann')).toEqual([undefined, '10']);
});

/** M is sold in slices of 2; N, of 300, would be sold whole. */
function paused(): Scene {
  const scene = opened({}, { partialLiquidationNotional: '500' });
  const { world } = scene;
  world.trade('ann', 'dan', '10', '100', 'M');
  world.trade('ann', 'dan', '3', '100', 'N');
  for (const symbol of ['M', 'N']) world.order('cat', '50', '100', { symbol });
  // The requirement is 65; after a slice, 55.
  scene.cash('ann', '50');
  expect(scene.check()).toEqual(['ann order M']);
  expect(sizes(world, 'ann')).toEqual(['8', '3']);
  return scene;
}

test('the pause of one position holds back the others of its unit', () => {
  const { world, check } = paused();
  expect(check()).toEqual([]);
  world.wait(PAUSE_MS - 1);
  expect(check()).toEqual([]);
  expect(sizes(world, 'ann')).toEqual(['8', '3']);
});

test('the end of the pause of one position is due without a mark', () => {
  const { world, state } = paused();
  expect(world.engine.nextTimerUs()).toBeLessThanOrEqual(state.nowUs + PAUSE_MS * 1000);
  expect(stepsOf(world, () => world.wait(PAUSE_MS - 1))).toEqual([]);
  expect(stepsOf(world, () => world.wait(1))).toEqual(['ann order M', 'ann safe M', 'ann safe N']);
  expect(sizes(world, 'ann')).toEqual(['6', '3']);
});

test('a slice that makes its unit safe needs no pause, even if it is not filled', () => {
  const scene = opened({}, { partialLiquidationNotional: '500' });
  const { world, state } = scene;
  world.trade('ann', 'dan', '10', '100', 'M');
  world.order('cat', '1', '100');
  scene.cash('ann', '48');
  expect(scene.check()).toEqual(['ann order M', 'ann safe M']);
  expect(sizes(world, 'ann')).toEqual(['9', undefined]);
  expect(state.liquidationPauses.size).toBe(0);
});

test('a unit that a step before made safe is left alone', () => {
  const scene = opened();
  const { world } = scene;
  world.trade('ann', 'bob', '10', '100', 'M');
  world.trade('bob', 'dan', '10', '100', 'N');
  world.order('bob', '1', '90', { symbol: 'O' });
  scene.cash('ann', '10');
  // 80 of 100; without M, of 50.
  scene.cash('bob', '80');
  expect(scene.check()).toEqual(['ann adl']);
  expect(sizes(world, 'bob')).toEqual([undefined, '10']);
});

test('a unit with frozen positions only has its orders cancelled, once', () => {
  const scene = opened();
  const { world, state } = scene;
  world.trade('ann', 'dan', '10', '100', 'M');
  const placed = world.order('ann', '1', '90', { symbol: 'O' });
  expect(placed).toMatchObject({ status: 'new' });
  scene.cash('ann', '-10');
  state.market(world.marketOf('M')).frozen = true;
  expect(scene.check()).toEqual(['ann cancelOrders']);
  expect(world.events.some((e) => e.kind === 'orderEnded' && e.reason === 'liquidation')).toBe(
    true,
  );
  expect(scene.check()).toEqual([]);
  expect(sizes(world, 'ann')).toEqual(['10', undefined]);
});
