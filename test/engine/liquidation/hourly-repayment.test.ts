/** At each whole hour insurance repays the shortfall within its hourly limit. */
import { beforeEach, expect, test } from 'vitest';
import type { State } from '../../../src/engine/state.ts';
import { plantShortfall, stateOf } from '../invariants/planted.ts';
import { dollars, RiskWorld } from '../risk-world.ts';

const HOUR = 3_600_000;
const HALF = HOUR / 2;
let world: RiskWorld;
let state: State;

/** 1,000 in insurance, of which a quarter an hour may be paid; half an hour has passed. */
beforeEach(() => {
  world = new RiskWorld([{}], { insuranceHourly: '0.25' });
  world.fund({ ann: '1000', bob: '1000' });
  world.price('100');
  world.deposit('insurance', '1000');
  world.wait(HALF);
  state = stateOf(world.engine);
});

/** A shortfall that is due at the next whole hour, as one of a clearing is. */
function shortfall(amount: string): void {
  plantShortfall(world, amount, 'ann');
  state.shortfallDueUs = world.atUs + HALF * 1000;
}

const balances = (): string[] => [dollars(state.shortfall.cash), dollars(state.insurance.cash)];

test('not before the hour; then a quarter of what insurance has at its start', () => {
  shortfall('600');
  const fork = world.engine.fork();
  world.wait(HALF - 1);
  expect(balances()).toEqual(['-600', '1000']);
  world.wait(1);
  expect(balances()).toEqual(['-350', '750']);
  const ledger = world.events.filter((event) => event.kind === 'balanceChanged').slice(-2);
  expect(ledger.map(({ reason }) => reason)).toEqual(['shortfall', 'shortfall']);
  world.wait(HOUR - 1);
  expect(balances()).toEqual(['-350', '750']);
  world.wait(1);
  expect(balances()).toEqual(['-162.5', '562.5']);
  world.wait(HOUR);
  expect(balances()).toEqual(['-21.875', '421.875']);
  world.wait(HOUR);
  expect(balances()).toEqual(['0', '400']);
  expect(state.shortfallDueUs).toBe(Infinity);
  for (const command of world.commands.slice(-5)) fork.apply(command);
  expect(fork.stateHash()).toBe(world.engine.stateHash());
});

test('what insurance paid in the hour before does not count, and one of the same hour does', () => {
  shortfall('300');
  world.wait(HALF);
  expect(balances()).toEqual(['-50', '750']);
  // The quarter of this hour is spent: insurance can pay no deficit until the next one.
  expect(dollars(state.insurancePaid)).toBe('250');
  world.wait(HOUR);
  expect(balances()).toEqual(['0', '700']);
  expect(dollars(state.insurancePaid)).toBe('50');
});

test('without an allowance nothing is paid, and the next hour is due', () => {
  world = new RiskWorld([{}], { insuranceHourly: '0' });
  world.fund({ ann: '1000', bob: '1000' });
  world.price('100');
  world.deposit('insurance', '1000');
  world.wait(HALF);
  state = stateOf(world.engine);
  shortfall('10');
  const { length } = world.events;
  world.wait(HALF);
  expect(balances()).toEqual(['-10', '1000']);
  expect(world.events.slice(length).filter(({ kind }) => kind === 'balanceChanged')).toEqual([]);
  expect(state.shortfallDueUs).toBe(world.atUs + HOUR * 1000);
});
