/**
 * Recovers signers on worker threads, in batches: to wake a thread costs the serving thread as much
 * as to recover a signature. So a small batch waits for others for a millisecond. A lone signature
 * is recovered inline, and so are those that arrive before the threads are ready; the first batch
 * of two or more starts the threads.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import workerpool from 'workerpool';
import type { Address } from '../num/units.ts';
import { recoveryTask, signerAt } from './recovery-task.ts';

/**
 * Queued tasks per thread: a thread that finishes one task starts the next without a round trip.
 */
const TASKS_PER_THREAD = 2;
/** Signatures per thread that do not wait for others, and the time for which fewer ones wait. */
const READY_BATCH = 16;
const WAIT_MS = 1;
const MAX_THREADS = 4;
/** Max signatures per task; one takes about 45 µs. */
const MAX_BATCH = 64;
/** How long a thread may take to end by itself. */
const GRACE_MS = 50;

interface Job {
  readonly digest: Uint8Array;
  readonly signature: string;
  /** null: not recovered by the pool. */
  readonly done: (answer: Recovered | null) => void;
}

export interface Recovered {
  readonly signer: Address | null;
}

export class RecoveryPool {
  private readonly threads: number;
  private readonly script: string;
  private pool: workerpool.Pool | null = null;
  private isReady = false;
  private isClosed = false;
  private isScheduled = false;
  private underWay = 0;
  private waiting: Job[] = [];
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param threads worker threads; by default one per other core, at most 4; 0 disables the pool
   * @param script compiled `recovery-worker`; required if the caller runs from source
   */
  constructor(
    threads = Math.min(MAX_THREADS, availableParallelism() - 1),
    script = new URL('./recovery-worker.js', import.meta.url),
  ) {
    this.threads = threads;
    this.script = fileURLToPath(script);
  }

  /** Signer of a digest; null if the caller should recover it inline. */
  recover(digest: Uint8Array, signature: string): Promise<Recovered | null> | null {
    if (this.threads === 0 || this.isClosed) return null;
    return new Promise((done) => {
      this.waiting.push({ digest, signature, done });
      if (this.isScheduled) return;
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        this.collect();
      });
    });
  }

  /** At the end of a turn of the event loop. */
  private collect(): void {
    const { waiting, threads, underWay, timer } = this;
    if (waiting.length === 0) return;
    const isAlone = waiting.length === 1 && underWay === 0 && timer === undefined;
    if (isAlone || !this.isReady || waiting.length >= READY_BATCH * threads) this.dispatch();
    else {
      this.timer ??= setTimeout(() => {
        this.dispatch();
      }, WAIT_MS);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.leave(this.waiting.splice(0));
    await this.pool?.terminate(true);
  }

  private dispatch(): void {
    const { waiting, threads } = this;
    clearTimeout(this.timer);
    this.timer = undefined;
    if (waiting.length > 1 && this.pool === null) this.start();
    const isAlone = waiting.length === 1 && this.underWay === 0;
    if (isAlone || !this.isReady) {
      this.leave(waiting.splice(0));
      return;
    }
    const share = Math.min(MAX_BATCH, Math.ceil(waiting.length / threads));
    while (waiting.length > 0 && this.underWay < threads * TASKS_PER_THREAD) {
      void this.run(waiting.splice(0, share));
    }
  }

  private start(): void {
    const { threads } = this;
    this.pool = workerpool.pool(this.script, {
      workerType: 'thread',
      minWorkers: threads,
      maxWorkers: threads,
      workerTerminateTimeout: GRACE_MS,
    });
    void this.ask([]).then((answer) => {
      this.isReady = answer !== null;
    });
  }

  private async run(jobs: readonly Job[]): Promise<void> {
    this.underWay += 1;
    const signers = await this.ask(jobs);
    this.underWay -= 1;
    jobs.forEach(({ done }, i) => {
      done(signers === null ? null : { signer: signerAt(signers, i) });
    });
    if (this.waiting.length > 0) this.collect();
  }

  /** null if a thread failed; the caller then recovers inline. */
  private async ask(jobs: readonly Job[]): Promise<string | null> {
    try {
      const answer: unknown = await this.pool?.exec('recoverAll', [recoveryTask(jobs)]);
      return typeof answer === 'string' ? answer : null;
    } catch {
      this.isReady = false;
      return null;
    }
  }

  private leave(jobs: readonly Job[]): void {
    for (const { done } of jobs) done(null);
  }
}
