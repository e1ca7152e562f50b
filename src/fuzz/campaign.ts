/**
 * A campaign: runs 0, 1, 2 … of a seed, each drawn from its number alone, whatever the number of
 * workers. A worker takes batches of runs; results are merged in run order.
 */
import type { ExchangeConfig } from '../engine/config.ts';
import { Exchange } from '../engine/exchange.ts';
import type { Keccak } from '../gateway/ports.ts';
import { addCounts, ReachedCounts, type Counts } from './reached-counts.ts';
import { drawProfile } from './draw-profile.ts';
import { allInvariants } from './check-journal.ts';
import { allOf, type Checker } from './checker.ts';
import { oracleLockstep } from './oracle-checker.ts';
import { describeProfile, PROFILE_NAMES, type FuzzProfile, type ProfileName } from './profile.ts';
import { failureFiles, type FailureFiles } from './report/failure-files.ts';
import { runFuzz, type Failure } from './fuzz-run.ts';
import { shrink, type Shrunk } from './shrink/shrink.ts';
import { Coverage } from './coverage.ts';
import { stateInvariants } from './state-checker.ts';
import { streamInvariants } from './stream-checker.ts';

export interface CampaignPlan {
  readonly seed: string;
  /** `all`: rotates through the named profiles. */
  readonly profile: ProfileName | 'all';
  /** Commands per run; null: drawn by the profile. */
  readonly commands: number | null;
  /** True: also compare with the oracle. */
  readonly lockstep: boolean;
  /** Commands between full scans of the state. */
  readonly every: number;
}

export interface BatchResult {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly commands: number;
  readonly counts: Counts;
  /** The first failed run of the batch; later ones are not run. */
  readonly failed: FailedRun | null;
}

export interface FailedRun {
  readonly run: number;
  readonly commands: number;
  readonly violation: Failure['violation'];
}

/** Every fourth run is checked by the stream invariants, which visit every event. */
const STREAM_EVERY = 4;

export function profileOf(plan: CampaignPlan, run: number): FuzzProfile {
  const name =
    plan.profile === 'all' ? (PROFILE_NAMES[run % PROFILE_NAMES.length] ?? 'swarm') : plan.profile;
  const drawn = { name, ...(plan.commands === null ? {} : { commands: plan.commands }) };
  return drawProfile(`${plan.seed}/${String(run)}`, drawn);
}

/** Runs `from` to `to` − 1, up to the first failure. */
export function runBatch(plan: CampaignPlan, from: number, to: number): BatchResult {
  const reached = new ReachedCounts();
  let counts: Counts = {};
  let commands = 0;
  for (let run = from; run < to; run += 1) {
    const coverage = new Coverage();
    const checkers = (config: ExchangeConfig): Checker =>
      allOf(
        stateInvariants(plan.every),
        reached,
        coverage,
        ...(run % STREAM_EVERY === 0 ? [streamInvariants(plan.every)] : []),
        ...(plan.lockstep ? [oracleLockstep(config)] : []),
      );
    const profile = profileOf(plan, run);
    const result = runFuzz(profile, checkers);
    commands += result.commands;
    counts = addCounts(counts, coverage.counts());
    if (result.failure === null) continue;
    const { violation } = result.failure;
    const failed = { run, commands: result.commands, violation };
    return { from, to: run + 1, commands, counts: addCounts(counts, reached.counts()), failed };
  }
  return { from, to, commands, counts: addCounts(counts, reached.counts()), failed: null };
}

export interface ShrinkReport {
  readonly shrunk: Shrunk;
  readonly files: FailureFiles;
}

export interface ShrinkRunOptions {
  readonly keccak: Keccak;
  readonly origin: readonly string[];
  readonly cancelled?: () => boolean;
  readonly onProgress?: (steps: number, tests: number) => void;
}

/** Repeats and shrinks a failed run. Throws if it does not fail again. */
export function shrinkRun(
  plan: CampaignPlan,
  run: number,
  options: ShrinkRunOptions,
): ShrinkReport {
  const profile = profileOf(plan, run);
  const checker = shrinkChecker(plan.lockstep);
  const { failure } = runFuzz(profile, (config) => checker(plan.every, config));
  if (failure === null) throw new Error(`run ${String(run)} does not fail again`);
  return shrinkFailure(failure, plan.lockstep, {
    ...options,
    origin: [...options.origin, '', describeProfile(profile)],
  });
}

/** Shrinks a failure and writes its report files. */
export function shrinkFailure(
  failure: Failure,
  lockstep: boolean,
  options: ShrinkRunOptions,
): ShrinkReport {
  const createEngine = (config: ExchangeConfig): Exchange => new Exchange(config);
  const createChecker = shrinkChecker(lockstep);
  const shrunk = shrink(failure, { ...options, createEngine, createChecker });
  return { shrunk, files: failureFiles(shrunk, { ...options, createEngine }) };
}

const shrinkChecker =
  (lockstep: boolean) =>
  (every: number, config: ExchangeConfig): Checker =>
    lockstep ? allOf(allInvariants(every), oracleLockstep(config)) : allInvariants(every);
