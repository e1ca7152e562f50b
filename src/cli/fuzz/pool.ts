/**
 * Worker threads of `orrery fuzz` and `orrery economic`: each runs one batch of runs, one shrink or
 * one arena at a time.
 */
import { fileURLToPath } from 'node:url';
import workerpool from 'workerpool';
import type { BatchResult, CampaignPlan, ShrinkReport } from '../../fuzz/campaign.ts';
import type { ArenaResult, SearchOptions } from '../../fuzz/economic/search.ts';
import type { Failure } from '../../fuzz/fuzz-run.ts';
import { isInterrupted } from '../cli-support.ts';

export interface ShrinkWatch {
  /** Remaining commands and executions so far. */
  readonly onProgress: (steps: number, tests: number) => void;
}

const POLL_MS = 100;
/** Shared with a worker that shrinks: whether to stop, commands left, executions so far. */
const SIGNALS = 3;
/** A thread in the middle of a batch does not read messages: it is ended. */
const GRACE_MS = 50;

export class FuzzPool {
  private readonly pool: workerpool.Pool;

  constructor(workers: number) {
    this.pool = workerpool.pool(fileURLToPath(new URL('./worker.js', import.meta.url)), {
      workerType: 'thread',
      minWorkers: workers,
      maxWorkers: workers,
      workerTerminateTimeout: GRACE_MS,
      // Most of what a run makes is gone soon: a larger nursery halves the collector's part.
      workerThreadOpts: { resourceLimits: { maxYoungGenerationSizeMb: 64 } },
    });
  }

  runBatch(plan: CampaignPlan, from: number, to: number): Promise<BatchResult> {
    return this.exec('runBatch', { plan, from, to });
  }

  /** At most so many plans in one arena of an economic search. */
  searchArena(options: SearchOptions, arena: number, most: number): Promise<ArenaResult> {
    return this.exec('searchArena', { options, arena, most });
  }

  /** An interrupt ends it early with the best result so far. */
  shrinkRun(plan: CampaignPlan, run: number, origin: readonly string[], watch: ShrinkWatch) {
    return this.shrink('shrinkRun', { plan, run, origin }, watch);
  }

  shrinkFailure(
    plan: CampaignPlan,
    failure: Failure,
    origin: readonly string[],
    watch: ShrinkWatch,
  ): Promise<ShrinkReport> {
    return this.shrink('shrinkFailure', { plan, failure, origin }, watch);
  }

  /** Ends what still runs. */
  async close(): Promise<void> {
    await this.pool.terminate(true);
  }

  private async shrink(name: string, task: object, watch: ShrinkWatch): Promise<ShrinkReport> {
    const signals = new Int32Array(new SharedArrayBuffer(4 * SIGNALS));
    const poll = setInterval(() => {
      if (isInterrupted()) Atomics.store(signals, 0, 1);
      watch.onProgress(Atomics.load(signals, 1), Atomics.load(signals, 2));
    }, POLL_MS);
    try {
      return await this.exec<ShrinkReport>(name, { ...task, signals });
    } finally {
      clearInterval(poll);
    }
  }

  private async exec<Result>(name: string, task: object): Promise<Result> {
    return (await this.pool.exec(name, [task])) as Result;
  }
}
