/**
 * Worker threads of `orrery fuzz` and `orrery economic`: each runs one batch of runs, one shrink or
 * one arena at a time.
 */
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { BatchResult, CampaignPlan, ShrinkReport } from '../../fuzz/campaign.ts';
import type { ArenaResult, SearchOptions } from '../../fuzz/economic/search.ts';
import type { Failure } from '../../fuzz/fuzz-run.ts';
import { isInterrupted } from '../cli-support.ts';
import { SIGNALS } from './worker.ts';

export interface ShrinkWatch {
  /** Remaining commands and executions so far. */
  readonly onProgress: (steps: number, tests: number) => void;
}

const POLL_MS = 100;

export class FuzzPool {
  private readonly pool: Piscina;

  constructor(workers: number) {
    this.pool = new Piscina({
      filename: fileURLToPath(new URL('./worker.js', import.meta.url)),
      minThreads: workers,
      maxThreads: workers,
      // Most objects of a run die young: a larger young generation halves the cost of garbage
      // collection.
      resourceLimits: { maxYoungGenerationSizeMb: 64 },
    });
  }

  runBatch(plan: CampaignPlan, from: number, to: number): Promise<BatchResult> {
    return this.pool.run({ plan, from, to }, { name: 'runBatch' }) as Promise<BatchResult>;
  }

  /** Tries at most `most` plans in one arena of an economic search. */
  searchArena(options: SearchOptions, arena: number, maxPlans: number): Promise<ArenaResult> {
    return this.pool.run(
      { options, arena, maxPlans },
      { name: 'searchArena' },
    ) as Promise<ArenaResult>;
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

  close(): Promise<void> {
    return this.pool.destroy();
  }

  private async shrink(name: string, task: object, watch: ShrinkWatch): Promise<ShrinkReport> {
    const signals = new Int32Array(new SharedArrayBuffer(4 * SIGNALS));
    const poll = setInterval(() => {
      if (isInterrupted()) Atomics.store(signals, 0, 1);
      watch.onProgress(Atomics.load(signals, 1), Atomics.load(signals, 2));
    }, POLL_MS);
    try {
      return (await this.pool.run({ ...task, signals }, { name })) as ShrinkReport;
    } finally {
      clearInterval(poll);
    }
  }
}
