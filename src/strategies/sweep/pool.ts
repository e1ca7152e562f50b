/** Worker threads for trials. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import type { TrialResult, TrialTask } from './trial.ts';

export class TrialPool {
  private readonly pool: Piscina;

  /** @param workers 1 or more; every core unless given */
  constructor(workers = availableParallelism()) {
    this.pool = new Piscina({
      filename: fileURLToPath(new URL('./worker.js', import.meta.url)),
      minThreads: workers,
      maxThreads: workers,
    });
  }

  readonly run = (task: TrialTask): Promise<TrialResult> =>
    this.pool.run(task, { name: 'trial' }) as Promise<TrialResult>;

  close(): Promise<void> {
    return this.pool.destroy();
  }
}
