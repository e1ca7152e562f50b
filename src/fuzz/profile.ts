/**
 * Workload profile of a fuzz run: parameters of the exchange, users, action weights, price, size
 * and time steps, fault rate. JSON data, drawn from a seed (`drawProfile`).
 */
import type { MarketInput } from '../gateway/market-config.ts';
import { mustBeProfile } from './fuzz-error.ts';

/** Actions of a generator. */
export const ACTIONS = [
  'order',
  'batch',
  'bracket',
  'protect',
  'trailing',
  'twap',
  'iceberg',
  'cancel',
  'cancelAll',
  'index',
  'mark',
  'fundingRate',
  'deposit',
  'withdraw',
  'transfer',
  'vaultDeposit',
  'vaultRedeem',
  'excess',
  'margin',
  'delegate',
  'signers',
  'selfTrade',
  'depth',
  'print',
  'snapshot',
  'gap',
  'bar',
  'single',
  'list',
  'again',
  'aim',
  'terms',
  'status',
  'delist',
  'advance',
] as const;

export type Action = (typeof ACTIONS)[number];

/** Default weights; a swarm omits about a third and halves or doubles the others. */
export const ACTION_WEIGHTS: Readonly<Record<Action, number>> = {
  order: 120,
  batch: 6,
  bracket: 6,
  protect: 6,
  trailing: 4,
  twap: 3,
  iceberg: 4,
  cancel: 60,
  cancelAll: 2,
  index: 20,
  mark: 6,
  fundingRate: 2,
  deposit: 3,
  withdraw: 3,
  transfer: 3,
  vaultDeposit: 2,
  vaultRedeem: 2,
  excess: 2,
  margin: 4,
  delegate: 2,
  signers: 1,
  selfTrade: 1,
  depth: 10,
  print: 6,
  snapshot: 1,
  gap: 1,
  bar: 4,
  single: 8,
  list: 3,
  again: 1,
  aim: 6,
  terms: 2,
  status: 3,
  delist: 1,
  advance: 6,
};

/** Profiles by the part of the exchange they favour; `swarm` draws that too. */
export const PROFILE_NAMES = [
  'swarm',
  'matching',
  'groups',
  'stress',
  'tape',
  'bars',
  'money',
  'permissions',
  'solvency',
  'crisis',
] as const;

export type ProfileName = (typeof PROFILE_NAMES)[number];

export interface FuzzProfile {
  readonly name: ProfileName;
  readonly seed: string;
  /** Commands of the run, including its opening. */
  readonly commands: number;
  /** In the format of `parseExchangeConfig`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** In the format of `parseMarketSpec`, and the opening index of each in ticks. */
  readonly markets: readonly MarketInput[];
  readonly openingTicks: readonly number[];
  /** Initial deposits of each user, insurance and vault, in whole collateral. */
  readonly deposits: readonly number[];
  readonly insurance: number;
  readonly vault: number;
  /** Highest subaccount index in use. */
  readonly subaccounts: number;
  /** Weight of each action; 0 omits it. */
  readonly mix: Readonly<Record<Action, number>>;
  readonly prices: {
    /** Typical step of an index, and probability (per mille) and size of jumps. */
    readonly stepPpm: number;
    readonly jumpPermille: number;
    readonly jumpPpm: number;
    /** Per mille of prices that hunt a liquidation. */
    readonly huntPermille: number;
    /** Typical distance of orders from the mark. */
    readonly spreadPpm: number;
    /** Per mille of commands that, at a stale index, are replaced by a new price. */
    readonly revivePermille: number;
    /** Period in which the oracle mostly updates one market, then the next; 0: all markets. */
    readonly focusUs: number;
  };
  /** Per mille of draws that seek states of bankruptcies; only `crisis` has the first four. */
  readonly crisis: {
    /** Prices at which a drawn account has lost its equity, or more. */
    readonly bankruptPermille: number;
    /** Commands that move money while there is a shortfall. */
    readonly moneyPermille: number;
    /** Steps to the end of the hour of the insurance limit. */
    readonly hourPermille: number;
    /** Closing orders that open a smaller position on the other side. */
    readonly flipPermille: number;
    /** Orders at the limit of their owner's margin. */
    readonly fullPermille: number;
    /** Orders with an originator. */
    readonly originatorPermille: number;
    /** Deposits to system accounts. */
    readonly systemPermille: number;
  };
  /** Max notional of an order as a multiple of its owner's cash, in hundredths. */
  readonly leveragePercent: number;
  readonly time: {
    /** Per mille of commands at the same time as the previous one. */
    readonly stillPermille: number;
    readonly pauseUs: number;
    readonly jumpPermille: number;
    readonly jumpUs: number;
    /** Per mille of commands at the exact time at which a state ends, or right after it. */
    readonly edgePermille: number;
    /** Per ten thousand of commands at the start of the next hour or day, or right after it. */
    readonly dayShare: number;
  };
  /** Ordinary commands between two episodes, on average; 0: no episodes. */
  readonly episodeGap: number;
  /** Nonces count up from here, over the limits of 31, 32 and 53 bits in some profiles. */
  readonly firstNonce: number;
  /** Per mille of orders with a nonce at the edge of a window. */
  readonly nonceEdgePermille: number;
  /** Time of the opening, in ms since 1970. */
  readonly startMs: number;
  /** Per mille of batches with the maximum size. */
  readonly fullBatchPermille: number;
  /** Per mille of commands with a fault: a field out of range, a used nonce, an unknown account. */
  readonly faultPermille: number;
}

/** The profile in one line for lists of runs: its largest weights and the omitted actions. */
export function summariseProfile(profile: FuzzProfile): string {
  const { config, markets, mix, deposits, leveragePercent, faultPermille } = profile;
  const used = ACTIONS.filter((action) => mix[action] > 0).sort((a, b) => mix[b] - mix[a]);
  const sources = markets.map(
    ({ indexSource, markSource }) => `${String(indexSource)}/${String(markSource)}`,
  );
  return [
    `${profile.name}, ${String(profile.commands)} commands`,
    `triggers ${String(config['triggerSource'])}`,
    `index/mark ${sources.join(' ')}`,
    `${String(deposits.length)} users to ${String(leveragePercent / 100)}x`,
    `faults ${String(faultPermille)} ‰`,
    `mix ${used.map((action) => `${action} ${String(mix[action])}`).join(' ')}`,
  ].join('; ');
}

/** The profile in a few lines, for the header of a run. */
export function describeProfile(profile: FuzzProfile): string {
  mustBeProfile('profile', profile);
  const { prices, time, crisis } = profile;
  const mix = ACTIONS.filter((action) => profile.mix[action] > 0).map(
    (action) => `${action} ${String(profile.mix[action])}`,
  );
  return [
    `profile ${profile.name}, seed ${profile.seed}, ${String(profile.commands)} commands`,
    `config  ${JSON.stringify(profile.config)}`,
    ...profile.markets.map(
      (market, i) =>
        `market  ${JSON.stringify(market)} from ${String(profile.openingTicks[i])} ticks`,
    ),
    `users   ${profile.deposits.join(', ')}; insurance ${String(profile.insurance)}, vault ${String(profile.vault)}, subaccounts 0…${String(profile.subaccounts)}`,
    `prices  step ${String(prices.stepPpm)} ppm, jumps ${String(prices.jumpPermille)} ‰ of ${String(prices.jumpPpm)} ppm, hunts ${String(prices.huntPermille)} ‰, spread ${String(prices.spreadPpm)} ppm, stale ones revive ${String(prices.revivePermille)} ‰, one market at a time for ${String(prices.focusUs)} µs, leverage to ${String(profile.leveragePercent / 100)}`,
    `time    ${String(time.stillPermille)} ‰ still, pauses to ${String(time.pauseUs)} µs, jumps ${String(time.jumpPermille)} ‰ to ${String(time.jumpUs)} µs, edges ${String(time.edgePermille)} ‰, hours and days ${String(time.dayShare)} of 10,000`,
    `crisis  bankruptcies ${String(crisis.bankruptPermille)} ‰ of prices, money in a shortfall ${String(crisis.moneyPermille)} ‰, hours ${String(crisis.hourPermille)} ‰, flips ${String(crisis.flipPermille)} ‰, orders at the margin limit ${String(crisis.fullPermille)} ‰, originators ${String(crisis.originatorPermille)} ‰`,
    `nonces  from ${String(profile.firstNonce)}, at edges ${String(profile.nonceEdgePermille)} ‰`,
    `start   ${String(profile.startMs)} ms`,
    `faults  ${String(profile.faultPermille)} ‰, full batches ${String(profile.fullBatchPermille)} ‰`,
    `mix     ${mix.join(', ')}`,
  ].join('\n');
}
