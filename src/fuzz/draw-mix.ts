/** Draws the weights of actions: those that a named profile favours, or any. */
import type { Dice } from './dice.ts';
import { ACTION_WEIGHTS, ACTIONS, type Action, type ProfileName } from './profile.ts';

/** Extra weights of a profile beside `ALWAYS`; other actions are omitted. */
const EXTRA_WEIGHTS: Readonly<
  Record<Exclude<ProfileName, 'swarm'>, Partial<Record<Action, number>>>
> = {
  matching: { order: 200, cancel: 90, cancelAll: 2, selfTrade: 3, batch: 4 },
  groups: {
    batch: 30,
    bracket: 30,
    protect: 30,
    trailing: 20,
    twap: 15,
    iceberg: 20,
    cancel: 20,
    index: 40,
    mark: 10,
    order: 90,
    // Recorded trades move the last price even while the index is stale.
    depth: 6,
    print: 6,
  },
  stress: {
    aim: 16,
    order: 120,
    index: 60,
    mark: 30,
    fundingRate: 6,
    margin: 15,
    protect: 20,
    trailing: 6,
    vaultDeposit: 4,
    // Bankrupt users deposit again.
    deposit: 20,
    withdraw: 4,
    transfer: 4,
  },
  tape: { depth: 60, print: 40, single: 40, snapshot: 4, gap: 2, bar: 5, order: 90, cancel: 20 },
  bars: { bar: 60, protect: 20, bracket: 15, trailing: 15, margin: 5, depth: 5, single: 5 },
  money: {
    aim: 16,
    deposit: 20,
    withdraw: 20,
    transfer: 20,
    vaultDeposit: 20,
    vaultRedeem: 20,
    excess: 10,
    margin: 15,
    fundingRate: 10,
  },
  permissions: {
    delegate: 40,
    signers: 20,
    margin: 15,
    transfer: 10,
    batch: 10,
    again: 10,
    list: 3,
  },
  // Price gaps, oracle outages and operator actions, with deposits and withdrawals.
  solvency: {
    aim: 12,
    order: 120,
    index: 50,
    mark: 25,
    deposit: 20,
    withdraw: 8,
    transfer: 5,
    vaultDeposit: 6,
    vaultRedeem: 4,
    margin: 12,
    protect: 8,
    depth: 6,
    status: 3,
    terms: 6,
    delist: 1,
    list: 3,
    advance: 10,
  },
  crisis: {
    aim: 30,
    order: 400,
    cancel: 40,
    index: 40,
    mark: 15,
    fundingRate: 30,
    deposit: 15,
    withdraw: 2,
    transfer: 1,
    vaultDeposit: 1,
    vaultRedeem: 1,
    margin: 6,
    protect: 4,
    depth: 3,
    status: 8,
    terms: 3,
    advance: 6,
  },
};
const ALWAYS: Partial<Record<Action, number>> = {
  order: 60,
  cancel: 20,
  index: 15,
  mark: 5,
  advance: 4,
  aim: 4,
  again: 1,
  deposit: 1,
};

export function drawMix(dice: Dice, name: ProfileName): Record<Action, number> {
  const base: Partial<Record<Action, number>> =
    name === 'swarm' ? ACTION_WEIGHTS : { ...ALWAYS, ...EXTRA_WEIGHTS[name] };
  // Actions that every mix keeps.
  const kept: readonly Action[] = ['order', 'index', 'mark'];
  const drawn = ACTIONS.map((action): [Action, number] => {
    const weight = base[action] ?? 0;
    if (name === 'swarm' && !kept.includes(action) && dice.chance(330)) return [action, 0];
    return [action, Math.ceil(weight * dice.pick([0.5, 1, 1, 2, 5]))];
  });
  return Object.fromEntries(drawn) as Record<Action, number>;
}
