/**
 * A campaign: runs 0, 1, 2 … of a seed, each drawn from its number alone, whatever the number of
 * workers. Results are merged in run order. The number of a run also selects its checks.
 */
import { Exchange } from '../engine/exchange.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import type { Keccak } from '../gateway/ports.ts';
import { addCounts, ReachedCounts, type Counts } from './reached-counts.ts';
import { drawProfile } from './draw-profile.ts';
import { intervalsOf } from './check-journal.ts';
import { allOf } from './checker.ts';
import { CHECK_NAMES, checkerOf, type CheckName } from './checks/checks.ts';
import { describeProfile, PROFILE_NAMES, type FuzzProfile, type ProfileName } from './profile.ts';
import { failureFiles, type FailureFiles } from './report/failure-files.ts';
import { runFuzz, type Failure } from './fuzz-run.ts';
import { shrink, type Shrunk } from './shrink/shrink.ts';
import type { SometimesChecker } from './sometimes.ts';
import { Coverage } from './coverage.ts';

export interface CampaignPlan {
  readonly seed: string;
  /** `all`: rotates through the named profiles. */
  readonly profile: ProfileName | 'all';
  /** Commands per run; null: drawn by the profile. */
  readonly commands: number | null;
  /** False: no run is compared with the oracle. */
  readonly oracle: boolean;
  /** Commands between full scans of the state. */
  readonly every: number;
  /** Script of the states of a user, which the workers load. */
  readonly states?: string;
}

/** Key of a user's state in the counts of a campaign. */
const OWN = 'own ';

/** Counts of a user's states by their names, in the counts of a campaign. */
export function ownStates(counts: Counts): readonly (readonly [name: string, count: number])[] {
  return Object.entries(counts).flatMap(([key, count]) =>
    key.startsWith(OWN) ? [[key.slice(OWN.length), count] as const] : [],
  );
}

export interface BatchResult {
  readonly from: number;
  /** Exclusive. A run that was stopped does not count. */
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
  /** The commands up to the violation; absent in the saved state of a campaign. */
  readonly failure?: Failure;
}

/** Kinds of runs, in turn: their checks, and the most commands of one. */
const RUN_KINDS: readonly { readonly checks: readonly CheckName[]; readonly most: number }[] = [
  { checks: ['state', 'stream', 'oracle'], most: 3000 },
  { checks: ['restore', 'hash', 'feeds'], most: 2000 },
  { checks: ['oracle'], most: 3000 },
  { checks: ['time', 'journal', 'gateway'], most: 2000 },
  { checks: ['stream', 'oracle'], most: 3000 },
  { checks: ['restore', 'gateway', 'feeds'], most: 2000 },
  { checks: ['state', 'stream', 'hash'], most: 6000 },
];

/** Orders that wait for others have the most states, so their profile has two turns. */
const TURNS: readonly ProfileName[] = PROFILE_NAMES.flatMap((name): ProfileName[] =>
  name === 'permissions' ? ['groups', name] : [name],
);

/** The number of kinds has no factor of that of the turns, so each profile meets each kind. */
const kindOf = (run: number) =>
  RUN_KINDS[run % RUN_KINDS.length] ?? { checks: CHECK_NAMES, most: Infinity };

/** The first runs are short, so that all profiles and kinds of runs have their turn soon. */
const mostOf = (run: number): number =>
  run < TURNS.length ? 600 : run < 2 * TURNS.length ? 1500 : Infinity;

/** The checks of a run. */
export function checksOfRun(plan: CampaignPlan, run: number): readonly CheckName[] {
  const { checks } = kindOf(run);
  if (plan.oracle) return checks;
  const others = checks.filter((name) => name !== 'oracle');
  return others.length > 0 ? others : ['state', 'stream'];
}

export function profileOf(plan: CampaignPlan, run: number): FuzzProfile {
  const name = plan.profile === 'all' ? (TURNS[run % TURNS.length] ?? 'swarm') : plan.profile;
  const drawn = drawProfile(`${plan.seed}/${String(run)}`, { name });
  const most = plan.oracle ? Math.min(kindOf(run).most, mostOf(run)) : Infinity;
  return { ...drawn, commands: plan.commands ?? Math.min(drawn.commands, most) };
}

/**
 * Runs `from` to `to` − 1, up to the first failure, or until `stop` after a command. `own` counts
 * the states of a user.
 */
export function runBatch(
  plan: CampaignPlan,
  from: number,
  to: number,
  stop: () => boolean = () => false,
  own: SometimesChecker | null = null,
): BatchResult {
  const reached = new ReachedCounts();
  let counts: Counts = {};
  let commands = 0;
  const all = (): Counts => addCounts(addCounts(counts, reached.counts()), ownCounts(own));
  for (let run = from; run < to; run += 1) {
    const coverage = new Coverage();
    const checks = checksOfRun(plan, run);
    const { every } = plan;
    const limit = { isReached: false };
    const result = runFuzz(
      profileOf(plan, run),
      (config) =>
        allOf(
          checkerOf(checks, config, { every }),
          reached,
          coverage,
          ...(own === null ? [] : [own]),
        ),
      {
        onCommand: (_command, _outcome, { seq }) => (limit.isReached = seq % every === 0 && stop()),
      },
    );
    commands += result.commands;
    counts = addCounts(counts, coverage.counts());
    const { failure } = result;
    if (failure !== null) {
      const failed = { run, commands: result.commands, violation: failure.violation, failure };
      return { from, to: run + 1, commands, counts: all(), failed };
    }
    if (limit.isReached) return { from, to: run, commands, counts: all(), failed: null };
  }
  return { from, to, commands, counts: all(), failed: null };
}

const ownCounts = (own: SometimesChecker | null): Counts =>
  Object.fromEntries(
    Object.entries(own?.counts() ?? {}).map(([name, count]) => [OWN + name, count]),
  );

export interface ShrinkReport {
  readonly shrunk: Shrunk;
  readonly files: FailureFiles;
}

export interface ShrinkRunOptions {
  readonly keccak: Keccak;
  readonly origin: readonly string[];
  readonly cancelled?: () => boolean;
  readonly onProgress?: (steps: number, tests: number) => void;
  /** Receives the report of the best script so far, each time it has become shorter. */
  readonly onBest?: (report: ShrinkReport) => void;
}

/** Repeats and shrinks a failed run. Throws if it does not fail again. */
export function shrinkRun(
  plan: CampaignPlan,
  run: number,
  options: ShrinkRunOptions,
): ShrinkReport {
  const { failed } = runBatch(plan, run, run + 1);
  if (failed?.failure === undefined) throw new Error(`run ${String(run)} does not fail again`);
  return shrinkFailure(failed.failure, {
    ...options,
    origin: [...options.origin, '', describeProfile(profileOf(plan, run))],
  });
}

/** The files of a failure that is not shrunk. */
export function reportFailure(failure: Failure, options: ShrinkRunOptions): ShrinkReport {
  return shrinkFailure(failure, { ...options, cancelled: () => true });
}

/** Shrinks a failure by the check that found it, and writes its report files. */
export function shrinkFailure(failure: Failure, options: ShrinkRunOptions): ShrinkReport {
  const createEngine = (config: ExchangeConfig): Exchange => new Exchange(config);
  const { onBest, ...others } = options;
  const own = CHECK_NAMES.filter((name) => name === failure.violation.check);
  const report = (shrunk: Shrunk): ShrinkReport => ({
    shrunk,
    files: failureFiles(shrunk, { ...options, createEngine }),
  });
  const shrunk = shrink(failure, {
    ...others,
    createEngine,
    // An exception of the engine itself needs no check.
    createChecker: (commands, config) =>
      own.length === 0 ? allOf() : checkerOf(own, config, intervalsOf(commands)),
    ...(onBest === undefined
      ? {}
      : {
          onBest: (best: Shrunk): void => {
            onBest(report(best));
          },
        }),
  });
  return report(shrunk);
}
