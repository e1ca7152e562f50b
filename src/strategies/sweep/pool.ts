/** Worker threads for trials. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { BestReport, BestTask } from './best-report.ts';
import type { TrialResult, TrialTask } from './trial.ts';
import type { Stoppable } from './worker.ts';

const POLL_MS = 50;
/**
 * Of a worker, at most. The collector stops a worker to clear its nursery with helpers that the other workers' cores would have to
 * run: the rarer, the less workers wait for each other. Two of them are through about a twentieth sooner than with the usual 48.
 */
const NURSERY_MB = 192;

export class TrialPool {
  readonly workers: number;
  private readonly pool: Piscina;
  private readonly stop = new Int32Array(new SharedArrayBuffer(4));
  private readonly poll: NodeJS.Timeout;

  /**
   * @param workers 1 or more; every core unless given
   * @param cancelled polled: true stops what runs, and what waits is not begun
   */
  constructor(workers = availableParallelism(), cancelled: () => boolean = () => false) {
    this.workers = workers;
    this.pool = new Piscina({
      filename: fileURLToPath(new URL('./worker.js', import.meta.url)),
      minThreads: workers,
      maxThreads: workers,
      resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
    });
    this.poll = setInterval(() => {
      if (cancelled()) Atomics.store(this.stop, 0, 1);
    }, POLL_MS);
  }

  /** null when it was stopped. */
  readonly run = (task: TrialTask): Promise<TrialResult | null> => this.give('trial', task);

  /** null when it was stopped. */
  report(task: BestTask): Promise<BestReport | null> {
    return this.give('report', task);
  }

  close(): Promise<void> {
    clearInterval(this.poll);
    return this.pool.destroy();
  }

  private async give<T>(name: string, task: object): Promise<T | null> {
    const { pool, stop } = this;
    if (Atomics.load(stop, 0) !== 0) return null;
    const whole: Stoppable = { ...task, stop };
    return (await pool.run(whole, { name })) as T | null;
  }
}
