/**
 * Worker threads of `orrery fuzz` and `orrery economic`: each runs one batch of runs, one shrink or
 * one arena at a time.
 */
import { fileURLToPath } from 'node:url';
import workerpool from 'workerpool';
import type { BatchResult, CampaignPlan, ShrinkReport } from '../../fuzz/campaign.ts';
import type { ArenaResult, SearchOptions } from '../../fuzz/economic/search.ts';
import type { Failure } from '../../fuzz/fuzz-run.ts';
import { InputError, isInterrupted } from '../cli-support.ts';
import type { BestSoFar, FailsTask } from './worker.ts';

export interface ShrinkWatch {
  /** Remaining commands and executions so far. */
  readonly onProgress: (steps: number, tests: number) => void;
  /** Receives the report of the best script so far. */
  readonly onBest: (report: ShrinkReport) => void;
  /** Polled; true ends it early with the best result so far. */
  readonly isOver: () => boolean;
}

const POLL_MS = 100;
/** An execution stops at the limit within a command; so much later, its thread is ended. */
const PATIENCE_MS = 10_000;
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
      workerThreadOpts: { resourceLimits: { maxYoungGenerationSizeMb: 128 } },
    });
  }

  /** `endsMs`: time in ms since 1970 at which the batch stops, within a run if need be. */
  async runBatch(
    plan: CampaignPlan,
    from: number,
    to: number,
    endsMs: number,
  ): Promise<BatchResult> {
    try {
      return await this.exec('runBatch', { plan, from, to, endsMs });
    } catch (error) {
      // A thread passes an error without its class.
      if (!(error instanceof Error) || error.name !== 'StateError') throw error;
      throw new InputError(error.message);
    }
  }

  /** At most so many plans in one arena of an economic search. */
  searchArena(options: SearchOptions, arena: number, maxPlans: number): Promise<ArenaResult> {
    return this.exec('searchArena', { options, arena, maxPlans });
  }

  /** The report of a failure as it was found. */
  reportFailure(failure: Failure, origin: readonly string[]): Promise<ShrinkReport> {
    return this.exec('reportFailure', { failure, origin, signals: sharedSignals() });
  }

  /** Whether a journal fails in a new thread, which loads all modules as a new process does. */
  async failsElsewhere(task: FailsTask): Promise<boolean> {
    const other = new FuzzPool(1);
    try {
      return await other.exec('failsAgain', task);
    } finally {
      await other.close();
    }
  }

  /** Ends what still runs. */
  async close(): Promise<void> {
    await this.pool.terminate(true);
  }

  /** The best result when it is over or interrupted. */
  async shrinkFailure(
    failure: Failure,
    origin: readonly string[],
    { onProgress, onBest, isOver }: ShrinkWatch,
  ): Promise<ShrinkReport> {
    const signals = sharedSignals();
    const on = (message: BestSoFar): void => {
      onBest(message.best);
    };
    const running = this.pool.exec('shrinkFailure', [{ failure, origin, signals }], { on });
    const patience = { polls: PATIENCE_MS / POLL_MS };
    const poll = setInterval(() => {
      onProgress(Atomics.load(signals, 1), Atomics.load(signals, 2));
      if (!isInterrupted() && !isOver()) return;
      Atomics.store(signals, 0, 1);
      patience.polls -= 1;
      if (patience.polls === 0) running.cancel();
    }, POLL_MS);
    try {
      return (await running) as ShrinkReport;
    } catch (error) {
      if (patience.polls > 0) throw error;
      throw new Error('an execution goes on beyond the limit', { cause: error });
    } finally {
      clearInterval(poll);
    }
  }

  private async exec<Result>(name: string, task: object): Promise<Result> {
    return (await this.pool.exec(name, [task])) as Result;
  }
}

const sharedSignals = (): Int32Array => new Int32Array(new SharedArrayBuffer(4 * SIGNALS));
