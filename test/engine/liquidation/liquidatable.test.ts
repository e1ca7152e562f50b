/** The full scan that finds units which should have been liquidated, for the invariant. */
import { expect, test } from 'vitest';
import { liquidatable } from '../../../src/engine/liquidation/liquidation.ts';
import type { Exposure } from '../../../src/engine/accounts/subaccount.ts';
import type { State } from '../../../src/engine/state.ts';
import { quanta, timeUs } from '../../../src/num/units.ts';
import { stateOf } from '../invariants/planted.ts';
import { RiskWorld, usd } from '../risk-world.ts';

interface Scene {
  readonly state: State;
  readonly world: RiskWorld;
  readonly in: (who: string, symbol: string) => Exposure;
  readonly cash: (who: string, amount: string) => void;
}

/** Ann has 10 in M and 10 in N, and maintenance of 50 in each; cat is isolated in M. */
function opened(): Scene {
  const world = new RiskWorld([{ symbol: 'M' }, { symbol: 'N' }]);
  world.fund({ ann: '1000', bob: '1000000', cat: '1000', dan: '5' });
  for (const symbol of ['M', 'N']) world.price('100', symbol);
  for (const symbol of ['M', 'N']) world.trade('ann', 'bob', '10', '100', symbol);
  world.setMargin('cat', true, '0.5', 'M');
  world.trade('cat', 'bob', '10', '100', 'M');
  const state = stateOf(world.engine);
  return {
    world,
    state,
    in: (who, symbol) => state.subaccount(world.idOf(who)).exposure(world.marketOf(symbol)),
    cash: (who, amount) => {
      const sign = amount.startsWith('-') ? -1n : 1n;
      const size = usd(amount.replace('-', ''));
      state.subaccount(world.idOf(who)).cash = quanta(sign * size);
    },
  };
}

const names = ({ state, world }: Scene): string[] =>
  liquidatable(state).map((id) => world.nameOf(id as never));

test('units at or above maintenance are safe; a unit below it is found', () => {
  const scene = opened();
  expect(names(scene)).toEqual([]);
  scene.cash('ann', '100');
  expect(names(scene)).toEqual([]);
  scene.cash('ann', '99.999999');
  expect(names(scene)).toEqual(['ann']);
});

test('an isolated position is a unit of its own', () => {
  const scene = opened();
  scene.cash('cat', '0');
  expect(names(scene)).toEqual([]);
  scene.in('cat', 'M').marginQuanta = usd('49.999999');
  expect(names(scene)).toEqual(['cat']);
});

test('a pause of any position excuses its unit, until it ends', () => {
  const scene = opened();
  scene.cash('ann', '80');
  scene.in('ann', 'N').liquidationResumesUs = timeUs(scene.world.atUs + 1);
  expect(names(scene)).toEqual([]);
  scene.in('ann', 'N').liquidationResumesUs = timeUs(scene.world.atUs);
  expect(names(scene)).toEqual(['ann']);
});

test.each([
  // Two thirds of the requirement of 100.
  { cash: '66.666667', found: [] },
  { cash: '66.666666', found: ['ann'] },
  { cash: '0', found: ['ann'] },
  { cash: '-1', found: ['ann'] },
])('a pause excuses a unit with an equity of $cash: $found', ({ cash, found }) => {
  const scene = opened();
  scene.cash('ann', cash);
  for (const symbol of ['M', 'N']) {
    scene.in('ann', symbol).liquidationResumesUs = timeUs(scene.world.atUs + 1);
  }
  expect(names(scene)).toEqual(found);
});

test('frozen positions wait, and a debt without a position does not', () => {
  const scene = opened();
  scene.cash('ann', '10');
  scene.state.market(scene.world.marketOf('M')).frozen = true;
  expect(names(scene)).toEqual(['ann']);
  scene.state.market(scene.world.marketOf('N')).frozen = true;
  expect(names(scene)).toEqual([]);
  scene.cash('dan', '-1');
  expect(names(scene)).toEqual(['dan']);
});

test('the house and the shortfall may be below zero', () => {
  const scene = opened();
  scene.state.shortfall.cash = quanta(-1n);
  scene.state.houseMaker.cash = quanta(-1n);
  expect(names(scene)).toEqual([]);
});
