/** Each solvency invariant detects a planted violation (R-1.6a, R-6.6, R-6.7). */
import { expect, test } from 'vitest';
import { STATE_INVARIANTS } from '../../../src/engine/invariants/invariants.ts';
import type { State } from '../../../src/engine/state.ts';
import { quanta } from '../../../src/num/units.ts';
import { stateOf } from './planted.ts';
import { RiskWorld } from '../risk-world.ts';

/** ann has 5 in M, bob an isolated −5, and cat is flat. */
function opened(): RiskWorld {
  const world = new RiskWorld([{}]);
  world.fund({ ann: '1000', bob: '1000', cat: '1000' });
  world.price('100');
  world.setMargin('bob', true, '0.2');
  world.trade('ann', 'bob', '5', '100');
  world.deposit('insurance', '10');
  return world;
}

function found(state: State, name: string): string | null {
  const invariant = STATE_INVARIANTS.find((known) => known.name === name);
  if (invariant === undefined) throw new Error(`no invariant ${name}`);
  return invariant.found(state);
}

type Plant = (state: State, world: RiskWorld) => void;
const cashOf =
  (who: string, amount: bigint): Plant =>
  (state, world) => {
    state.subaccount(world.idOf(who)).cash = quanta(amount);
  };
const marginOf =
  (who: string, amount: bigint): Plant =>
  (state, world) => {
    state.subaccount(world.idOf(who)).exposures[0]!.marginQuanta = quanta(amount);
  };

test.each<[what: string, invariant: string, plant: Plant, detail: RegExp]>([
  ['a debt without a position', 'noFlatDebt', cashOf('cat', -1n), /owes 1$/],
  ['a debt beside an isolated position', 'noFlatDebt', cashOf('bob', -1n), /owes 1$/],
  ['a debt of insurance', 'noFlatDebt', cashOf('insurance', -7n), /owes 7$/],
  ['margin below zero without a position', 'noFlatDebt', marginOf('cat', -2n), /market 0 owes 2$/],
  ['unfunded money', 'equityIsSupply', cashOf('cat', 1_000_000_001n), /≠ supply/],
  ['unfunded margin', 'equityIsSupply', marginOf('bob', 1n), /≠ supply/],
  ['a negative equity behind a fresh position', 'claimsCovered', cashOf('ann', -1n), /has -1$/],
  ['a negative isolated equity', 'claimsCovered', marginOf('bob', -1n), /market 0 has -1$/],
  [
    'a shortfall above zero',
    'shortfallNotPositive',
    (state) => (state.shortfall.cash = quanta(1n)),
    /shortfall holds 1$/,
  ],
  ['overdrawn insurance', 'insuranceNotNegative', cashOf('insurance', -1n), /holds -1$/],
  [
    'an exemption missing in the total',
    'exemptDeposits',
    (state, world) => {
      state.subaccount(world.idOf('ann')).exemptQuanta = quanta(3n);
    },
    /3 ≠ 0/,
  ],
])('%s is found by %s', (_what, invariant, plant, detail) => {
  const world = opened();
  const state = stateOf(world.engine);
  if (detail.source.includes('market 0 owes')) {
    // cat has traded in M and closed.
    world.trade('cat', 'ann', '1', '100');
    world.trade('cat', 'ann', '-1', '100');
  }
  expect(found(state, invariant)).toBeNull();
  plant(state, world);
  expect(found(state, invariant)).toMatch(detail);
});

test('the house, the shortfall and holders of frozen positions may be below zero', () => {
  const world = opened();
  const state = stateOf(world.engine);
  state.houseMaker.cash = quanta(-5n);
  state.shortfall.cash = quanta(-5n);
  expect(found(state, 'claimsCovered')).toBeNull();
  expect(found(state, 'noFlatDebt')).toBeNull();
  cashOf('ann', -1n)(state, world);
  marginOf('bob', -1n)(state, world);
  state.market(world.marketOf('M')).frozen = true;
  expect(found(state, 'claimsCovered')).toBeNull();
});
