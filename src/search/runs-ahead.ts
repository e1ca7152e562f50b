/**
 * Runs that will probably be asked for, begun when a worker has nothing else to do: while the last trials of a search run, what its best
 * so far would be varied to. A run is the same whenever it is begun, so results do not depend on what was guessed.
 */
import type { TrialResult, TrialTask } from './trial.ts';

export interface Workers {
  readonly run: (task: TrialTask) => Promise<TrialResult | null>;
  /** How many have nothing to do. */
  readonly idle: number;
}

export class RunsAhead {
  private readonly workers: Workers;
  private readonly begun = new Map<string, Promise<TrialResult | null>>();
  private wanted: readonly TrialTask[] = [];

  constructor(workers: Workers) {
    this.workers = workers;
  }

  /** Forgets what was wanted before; what has begun goes on. */
  want(tasks: readonly TrialTask[]): void {
    this.wanted = tasks;
    this.begin();
  }

  /** The run, wherever it has got to. null when it was stopped. */
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
        // Whoever asks for it hears of it.
        () => undefined,
      );
    }
  }
}

function keyOf(task: TrialTask): string {
  return JSON.stringify(task);
}
