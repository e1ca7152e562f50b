/** Pool of child processes for trials. */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import workerpool from 'workerpool';
import { UserError } from '../../base/user-error.ts';
import { assignmentText } from '../samplers/space.ts';
import { FileError } from '../../platform/file-error.ts';
import type { BestReport, BestTask } from '../best-report.ts';
import type { TrialResult, TrialTask } from '../trial.ts';
import { STUCK } from './stuck.ts';

const POLL_MS = 50;
/** Grace period of a worker that was asked to stop. */
const GRACE_MS = 2000;
/**
 * Young-generation size of a worker. Most objects of a run die young, so fewer collections cost
 * less.
 */
const NURSERY_MB = 64;

/** Max time of a call of a strategy, unless another is given. */
export const HANDLER_LIMIT_MS = 30_000;

/** A worker that terminated during a run. */
export class WorkerError extends UserError {
  override readonly name = 'WorkerError';
  readonly code = 'worker';
}

/** A handler of the strategy did not return, so its worker ended. */
class HandlerOverdue extends UserError {
  override readonly name = 'HandlerOverdue';
  readonly code = 'strategy-failed';
}

export class TrialPool {
  readonly workers: number;
  private readonly pool: workerpool.Pool;
  private readonly cancelled: () => boolean;
  private readonly handlerLimitMs: number | null;
  private readonly poll: NodeJS.Timeout;
  private closing: Promise<unknown> | undefined;
  private assigned = 0;

  /**
   * @param workers 1 or more; default: one per core
   * @param cancelled polled; true stops running tasks and discards queued ones
   * @param handlerLimitMs max time of a call of a strategy; null for none
   */
  constructor(
    workers = availableParallelism(),
    cancelled: () => boolean = () => false,
    handlerLimitMs: number | null = HANDLER_LIMIT_MS,
  ) {
    this.workers = workers;
    this.cancelled = cancelled;
    this.handlerLimitMs = handlerLimitMs;
    this.pool = workerpool.pool(fileURLToPath(new URL('./trial-worker.js', import.meta.url)), {
      workerType: 'process',
      minWorkers: workers,
      maxWorkers: workers,
      workerTerminateTimeout: GRACE_MS,
      forkArgs: [String(process.pid), String(handlerLimitMs)],
      forkOpts: {
        serialization: 'advanced',
        // In its own process group: an interrupt from the keyboard reaches the parent only.
        detached: true,
        execArgv: [`--max-semi-space-size=${String(NURSERY_MB)}`],
      },
    });
    this.poll = setInterval(() => {
      if (cancelled()) void this.close();
    }, POLL_MS);
  }

  /** Null if stopped. Throws if the data cannot be read, or the worker was terminated. */
  readonly run = (task: TrialTask): Promise<TrialResult | null> =>
    this.give<TrialResult>('trial', task, assignmentText(task.parameters)).catch(
      (error: unknown) => {
        if (!(error instanceof HandlerOverdue)) throw error;
        return { score: null, error: error.message, figures: null, returns: [] };
      },
    );

  /**
   * A trial whose result is stored for all machines. A handler past its limit throws, too: that is
   * a time of the wall clock of this one. Null if stopped.
   */
  readonly runJob = (task: TrialTask): Promise<TrialResult | null> =>
    this.give<TrialResult>('trial', task, assignmentText(task.parameters));

  /** Null if stopped. Throws if the report cannot be written, or the worker was terminated. */
  report(task: BestTask): Promise<BestReport | null> {
    return this.give('report', task, 'the report of the best');
  }

  /** Number of idle workers. */
  get idle(): number {
    return Math.max(0, this.workers - this.assigned);
  }

  /** Stops running tasks; terminates workers that do not respond. */
  async close(): Promise<void> {
    clearInterval(this.poll);
    // The library waits even for workers that have already exited.
    this.closing ??= Promise.resolve(this.pool.terminate(true, 2 * GRACE_MS)).catch(
      () => undefined,
    );
    await this.closing;
  }

  private isClosing(): boolean {
    return this.closing !== undefined;
  }

  /** The reason if a worker ended itself, because a built-in function did not return. */
  private stuck(error: unknown): string | null {
    if (!(error instanceof workerpool.TerminateError)) return null;
    if (!error.message.includes(`exitCode: \`${String(STUCK)}\``)) return null;
    const limit = `${String((this.handlerLimitMs ?? 0) / 1000)} s`;
    return `the strategy did not return within ${limit}: it is inside a built-in function`;
  }

  private async give<T>(method: string, task: object, what: string): Promise<T | null> {
    if (this.isClosing()) return null;
    this.assigned += 1;
    const reported: { overdue: string | null } = { overdue: null };
    try {
      return (await this.pool.exec(method, [task], {
        on: (message: string) => {
          reported.overdue = message;
        },
      })) as T | null;
    } catch (error) {
      const overdue = reported.overdue ?? this.stuck(error);
      if (overdue !== null) {
        // The library replaces the worker, but gives it a queued task only at the next call.
        setTimeout(() => {
          if (!this.isClosing()) this.pool.exec('ready', []).catch(() => undefined);
        }, POLL_MS);
        throw new HandlerOverdue(overdue);
      }
      // A signal to the process group may end workers before this process receives it.
      if (error instanceof workerpool.TerminateError) await pause(POLL_MS);
      if (this.isClosing() || this.cancelled()) return null;
      throw restoreError(error, what);
    } finally {
      this.assigned -= 1;
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Restores the error class, which is lost between processes. */
function restoreError(error: unknown, what: string): unknown {
  if (error instanceof workerpool.TerminateError) {
    const signal = /signalCode: `(SIG\w+)`/.exec(error.message)?.[1];
    const why =
      signal === undefined
        ? 'ended by itself'
        : `was ended from outside or ran out of memory (${signal})`;
    return new WorkerError(
      `a worker ${why} while it ran ${what}; trials that had ended are in the log, rerun the command to continue`,
    );
  }
  if (!(error instanceof Error)) return error;
  return ['FileError', 'TapeError'].includes(error.name) ? new FileError(error.message) : error;
}
