/**
 * Drives a campaign to its end: asks for its jobs as their predecessors end. It depends on results
 * only, so several processes may drive one campaign, and another continues it at any time.
 */
import { unreachable } from '../base/assert.ts';
import { CoalitionSearch } from '../fuzz/economic/search.ts';
import { newSearch } from '../fuzz/exhaust/new-search.ts';
import { robustness } from '../search/robustness.ts';
import { sweep } from '../search/sweep.ts';
import { walkForward } from '../search/walk-forward.ts';
import type { TrialResult, TrialTask } from '../search/trial.ts';
import { loadStrategy } from '../strategy-loader/sandbox.ts';
import { searchArenas } from './economic-jobs.ts';
import { expandAll } from './exhaust-jobs.ts';
import type { FileCache } from './file-cache.ts';
import { JOBS_AHEAD, remoteBatch, RUNS_A_JOB } from './fuzz-jobs.ts';
import type { RemoteJobs } from './remote-jobs.ts';
import {
  unpackedSearch,
  type CampaignSpec,
  type EconomicWork,
  type ExhaustWork,
  type FuzzWork,
  type SearchWork,
} from './spec.ts';
import { remoteTrials } from './trial-jobs.ts';

export interface DrivePorts {
  readonly jobs: RemoteJobs;
  readonly cache: FileCache;
  readonly stopped: () => boolean;
}

/** Resolves with false if stopped. Rejects with `CampaignError`. */
export function drive(spec: CampaignSpec, ports: DrivePorts): Promise<boolean> {
  const { work } = spec;
  switch (work.kind) {
    case 'fuzz':
      return driveFuzz(work, ports);
    case 'economic':
      return driveEconomic(work, ports);
    case 'exhaust':
      return driveExhaust(work, ports);
    case 'sweep':
    case 'walkforward':
      return driveSearch(work, spec, ports);
    default:
      return unreachable(work);
  }
}

async function driveSearch(
  work: SearchWork,
  { paths }: CampaignSpec,
  { jobs, cache, stopped }: DrivePorts,
): Promise<boolean> {
  const search = await unpackedSearch(work.search, paths, (sha256) => cache.bundle(sha256));
  const run: (task: TrialTask) => Promise<TrialResult | null> = remoteTrials(jobs, paths);
  if (work.kind === 'walkforward') {
    const { cancelled } = await walkForward(search, work.windows, work.perYear, {
      run,
      cancelled: stopped,
      logOf: () => ({ ...NO_LOG, close: () => undefined }),
      onWindow: () => undefined,
      maxParallel: work.windows.length,
    });
    return !cancelled;
  }
  const { best, cancelled } = await sweep(search, {
    run,
    cancelled: stopped,
    log: NO_LOG,
    onTrial: () => undefined,
  });
  if (cancelled) return false;
  const [planned] = search.plan.strategies;
  if (best === null || !work.robustness || planned?.bundle == null) return true;
  const { parameters } = loadStrategy(planned.bundle).definition;
  return (await robustness(search, parameters, best, work.perYear, run)) !== null;
}

async function driveFuzz(
  { plan, runs, keepGoing = false }: FuzzWork,
  { jobs, stopped }: DrivePorts,
): Promise<boolean> {
  let next = 0;
  let failed = Infinity;
  const ask = async (): Promise<void> => {
    while (next < Math.min(runs, failed) && !stopped()) {
      let from = next;
      const to = Math.min(from + RUNS_A_JOB, runs);
      next = to;
      while (from < to) {
        const result = await remoteBatch(jobs, { plan, from, to });
        from = keepGoing && result?.failed != null ? result.to : to;
        if (!keepGoing && result?.failed != null) failed = Math.min(failed, result.failed.run);
      }
    }
  };
  await Promise.all(Array.from({ length: JOBS_AHEAD }, ask));
  return !stopped();
}

async function driveEconomic(
  { options, plans }: EconomicWork,
  { jobs, stopped }: DrivePorts,
): Promise<boolean> {
  const search = new CoalitionSearch(options, plans);
  return searchArenas(search, options, plans, { jobs, stopped });
}

async function driveExhaust({ plan }: ExhaustWork, ports: DrivePorts): Promise<boolean> {
  return expandAll(newSearch(plan), ports);
}

const NO_LOG = { get: () => undefined, add: () => undefined };
