/** Child processes for trials. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import workerpool from 'workerpool';
import { assignmentText } from '../samplers/space.ts';
import { FileError } from '../../platform/file-error.ts';
import type { BestReport, BestTask } from '../best-report.ts';
import type { TrialResult, TrialTask } from '../trial.ts';

const POLL_MS = 50;
/** How long a worker that is told to stop may take before it is ended. */
const GRACE_MS = 2000;
/** Of a worker. Most of what a run makes is gone soon, so that the collector has the less to do the rarer it looks. */
const NURSERY_MB = 64;

/** A worker ended in the middle of a run. */
class WorkerError extends Error {
  override readonly name = 'WorkerError';
}

export class TrialPool {
  readonly workers: number;
  private readonly pool: workerpool.Pool;
  private readonly cancelled: () => boolean;
  private readonly poll: NodeJS.Timeout;
  private closing: Promise<unknown> | undefined;
  private given = 0;

  /**
   * @param workers 1 or more; every core unless given
   * @param cancelled polled: true stops what runs, and what waits is not begun
   */
  constructor(workers = availableParallelism(), cancelled: () => boolean = () => false) {
    this.workers = workers;
    this.cancelled = cancelled;
    this.pool = workerpool.pool(fileURLToPath(new URL('./trial-worker.js', import.meta.url)), {
      workerType: 'process',
      minWorkers: workers,
      maxWorkers: workers,
      workerTerminateTimeout: GRACE_MS,
      forkArgs: [String(process.pid)],
      forkOpts: {
        serialization: 'advanced',
        // In a group of its own: an interrupt from the keyboard reaches the parent alone.
        detached: true,
        execArgv: [`--max-semi-space-size=${String(NURSERY_MB)}`],
      },
    });
    this.poll = setInterval(() => {
      if (cancelled()) void this.close();
    }, POLL_MS);
  }

  /** null when it was stopped. Throws when the worker was ended from outside. */
  readonly run = (task: TrialTask): Promise<TrialResult | null> =>
    this.give('trial', task, assignmentText(task.parameters));

  /** null when it was stopped. Throws when it cannot be written, or the worker was ended from outside. */
  report(task: BestTask): Promise<BestReport | null> {
    return this.give('report', task, 'the best once more');
  }

  /** Workers that have nothing to do. */
  get idle(): number {
    return Math.max(0, this.workers - this.given);
  }

  /** Stops what runs. Workers that do not hear of it are ended. */
  async close(): Promise<void> {
    clearInterval(this.poll);
    // Of a worker that is gone already the library waits for its end.
    this.closing ??= Promise.resolve(this.pool.terminate(true, 2 * GRACE_MS)).catch(
      () => undefined,
    );
    await this.closing;
  }

  private isClosing(): boolean {
    return this.closing !== undefined;
  }

  private async give<T>(method: string, task: object, what: string): Promise<T | null> {
    if (this.isClosing()) return null;
    this.given += 1;
    try {
      return (await this.pool.exec(method, [task])) as T | null;
    } catch (error) {
      // A signal that ends a whole group ends workers before this process hears of it.
      if (error instanceof workerpool.TerminateError) await pause(POLL_MS);
      if (this.isClosing() || this.cancelled()) return null;
      throw told(error, what);
    } finally {
      this.given -= 1;
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Errors lose their class on their way. */
function told(error: unknown, what: string): unknown {
  if (error instanceof workerpool.TerminateError) {
    const signal = /signalCode: `(SIG\w+)`/.exec(error.message)?.[1];
    const why =
      signal === undefined
        ? 'ended by itself'
        : `was ended from outside or ran out of memory (${signal})`;
    return new WorkerError(
      `a worker ${why} while it ran ${what}; trials that had ended are in the log, and the same command goes on`,
    );
  }
  if (error instanceof Error && error.name === 'FileError') return new FileError(error.message);
  return error;
}
