/**
 * Speculative runs on idle workers: during the last trials of a search, the variations of its best
 * trial so far are run. Runs are deterministic, so results do not depend on the speculation.
 */
import type { TrialResult, TrialTask } from './trial.ts';

export interface Workers {
  readonly run: (task: TrialTask) => Promise<TrialResult | null>;
  /** Number of idle workers. */
  readonly idle: number;
}

export class RunsAhead {
  private readonly workers: Workers;
  private readonly begun = new Map<string, Promise<TrialResult | null>>();
  private wanted: readonly TrialTask[] = [];

  constructor(workers: Workers) {
    this.workers = workers;
  }

  /** Replaces the queue of speculative tasks; running ones continue. */
  want(tasks: readonly TrialTask[]): void {
    this.wanted = tasks;
    this.begin();
  }

  /** The run, whether speculative, finished or new; null if it was stopped. */
  readonly take = (task: TrialTask): Promise<TrialResult | null> =>
    this.begun.get(keyOf(task)) ?? this.workers.run(task);

  private begin(): void {
    for (const task of this.wanted) {
      if (this.workers.idle < 1) return;
      const key = keyOf(task);
      if (this.begun.has(key)) continue;
      const run = this.workers.run(task);
      this.begun.set(key, run);
      run.then(
        () => {
          this.begin();
        },
        // The caller of `take` receives the error.
        () => undefined,
      );
    }
  }
}

function keyOf(task: TrialTask): string {
  return JSON.stringify(task);
}
