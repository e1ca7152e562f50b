/** Worker threads of exhaustive searches: each expands one batch, or the batches of one job. */
import { fileURLToPath } from 'node:url';
import workerpool from 'workerpool';
import type { Batch, ExhaustPlan, Expansion } from '../../fuzz/exhaust/expand.ts';

const GRACE_MS = 50;

export class ExhaustPool {
  private readonly pool: workerpool.Pool;

  constructor(workers: number) {
    this.pool = workerpool.pool(fileURLToPath(new URL('./worker.js', import.meta.url)), {
      workerType: 'thread',
      minWorkers: workers,
      maxWorkers: workers,
      workerTerminateTimeout: GRACE_MS,
      // Most of what a batch makes is gone soon: a larger nursery halves the collector's part.
      workerThreadOpts: { resourceLimits: { maxYoungGenerationSizeMb: 64 } },
    });
  }

  async expand(plan: ExhaustPlan, batch: Batch): Promise<Expansion> {
    return (await this.pool.exec('expand', [plan, batch])) as Expansion;
  }

  /** Task and result of a job as JSON. */
  async expandJob(task: string): Promise<string> {
    return (await this.pool.exec('expandJob', [task])) as string;
  }

  /** Ends what still runs. */
  async close(): Promise<void> {
    await this.pool.terminate(true);
  }
}
