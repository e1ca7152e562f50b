/**
 * What a run of the fuzzer is made of: the exchange's parameters, who takes part, how often each kind of command comes, how prices,
 * sizes and time move, how much is malformed. Plain data with decimal text, as people write it, so it prints and goes
 * through JSON; everything in it is drawn from a seed (`drawProfile`).
 */
import type { MarketInput } from '../gateway/market-config.ts';

/** What a generator can do next. */
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
  'terms',
  'status',
  'delist',
  'advance',
] as const;

export type Action = (typeof ACTIONS)[number];

/** Which part of the exchange a profile leans on; `swarm` draws that, too. */
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
] as const;

export type ProfileName = (typeof PROFILE_NAMES)[number];

export interface FuzzProfile {
  readonly name: ProfileName;
  readonly seed: string;
  /** Commands of the run, its opening included. */
  readonly commands: number;
  /** As `parseExchangeConfig` reads it. */
  readonly config: Readonly<Record<string, unknown>>;
  /** As `parseMarketSpec` reads them, and the index in ticks at which each opens. */
  readonly markets: readonly MarketInput[];
  readonly openingTicks: readonly number[];
  /** What each user begins with, in whole collateral; and what insurance and vault are given. */
  readonly deposits: readonly number[];
  readonly insurance: number;
  readonly vault: number;
  /** Highest subaccount index that is used. */
  readonly subaccounts: number;
  /** Weight of each action; 0 for what this run leaves out. */
  readonly mix: Readonly<Record<Action, number>>;
  readonly prices: {
    /** Usual step of an index, and how often (in 1000) and how far it jumps. */
    readonly stepPpm: number;
    readonly jumpPermille: number;
    readonly jumpPpm: number;
    /** How many of 1000 prices go to where somebody is liquidated. */
    readonly huntPermille: number;
    /** How far from the mark orders usually stand. */
    readonly spreadPpm: number;
    /** How many of 1000 commands that find an index stale bring a new price instead. */
    readonly revivePermille: number;
    /** For so long the oracle mostly speaks of one market, then of the next; 0: of all of them. */
    readonly focusUs: number;
  };
  /** Largest notional of one order as a multiple of its owner's cash, in hundredths. */
  readonly leveragePercent: number;
  readonly time: {
    /** How many of 1000 commands come in the same instant as the one before. */
    readonly stillPermille: number;
    readonly pauseUs: number;
    readonly jumpPermille: number;
    readonly jumpUs: number;
    /** How many of 1000 come at the very instant at which something ends or begins, or right after it. */
    readonly edgePermille: number;
  };
  /** How many of 1000 batches are as large as a batch may be. */
  readonly fullBatchPermille: number;
  /** How many of 1000 commands carry something wrong: a field out of range, a used nonce, somebody unknown. */
  readonly faultPermille: number;
}

/** The profile in one line, for lists of runs: what it leans on and what it leaves out, largest weights first. */
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

/** The profile in a few lines, for the head of a run. */
export function describeProfile(profile: FuzzProfile): string {
  const { prices, time } = profile;
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
    `time    ${String(time.stillPermille)} ‰ still, pauses to ${String(time.pauseUs)} µs, jumps ${String(time.jumpPermille)} ‰ to ${String(time.jumpUs)} µs, edges ${String(time.edgePermille)} ‰`,
    `faults  ${String(profile.faultPermille)} ‰, full batches ${String(profile.fullBatchPermille)} ‰`,
    `mix     ${mix.join(', ')}`,
  ].join('\n');
}
