/** Workers elsewhere as the pool of a search; the report of the best trial is made here. */
import { existsSync } from 'node:fs';
import { FileCache } from '../../campaigns/file-cache.ts';
import { inputsOf, renamed, type InputPaths } from '../../campaigns/inputs.ts';
import type { RemoteJobs } from '../../campaigns/remote-jobs.ts';
import { remoteTrials } from '../../campaigns/trial-jobs.ts';
import type { RunPlan } from '../../run-plan/run-plan.ts';
import type { BestReport, BestTask } from '../../search/best-report.ts';
import type { SearchPool } from '../../search/search-pool.ts';
import { TrialPool } from '../../search/workers/trial-pool.ts';
import { isInterrupted } from '../cli-support.ts';

export class RemotePool implements SearchPool {
  readonly run: SearchPool['run'];
  /** No runs ahead: an idle worker elsewhere takes another campaign. */
  readonly idle = 0;
  /** Searches at the same time, in a walk-forward analysis. */
  readonly workers = 64;
  private readonly paths: InputPaths;
  private readonly cache: FileCache;
  private readonly handlerLimitMs: number | null;

  constructor(
    jobs: RemoteJobs,
    paths: InputPaths,
    cache: FileCache,
    handlerLimitMs: number | null,
  ) {
    this.run = remoteTrials(jobs, paths);
    this.paths = paths;
    this.cache = cache;
    this.handlerLimitMs = handlerLimitMs;
  }

  async report(task: BestTask): Promise<BestReport | null> {
    const plan = await this.local(task.plan);
    const pool = new TrialPool(1, isInterrupted, this.handlerLimitMs);
    try {
      return await pool.report({ ...task, plan });
    } finally {
      await pool.close();
    }
  }

  /** The plan with the user's files if they are the same, otherwise with those of the database. */
  private async local(plan: RunPlan): Promise<RunPlan> {
    const names = new Map<string, string>();
    const here =
      plan.data !== undefined && existsSync(plan.data)
        ? await inputsOf(plan).catch((): InputPaths => ({}))
        : {};
    for (const [path, reference] of Object.entries(this.paths)) {
      const isSame = here[path] === reference;
      names.set(path, isSame ? path : await this.cache.resolve(reference));
    }
    return renamed(plan, (name) => names.get(name) ?? name);
  }
}
