/**
 * Recovers signers on other cores, where there are any. What comes in one turn of the event loop goes to a thread together. A signature that
 * comes alone is left to the caller: its way to another thread and back takes as long as its recovery. So are those that come before the
 * threads have started, which the first two at a time make them do.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import workerpool from 'workerpool';
import type { Address } from '../num/units.ts';
import type { RecoveryTask } from './recovery-worker.ts';

/** A thread that is done finds the next task there already. */
const TASKS_PER_THREAD = 2;
const MAX_THREADS = 4;
/** Signatures of a task, of about 45 µs each. */
const MAX_BATCH = 64;
/** How long a thread may take to end by itself. */
const GRACE_MS = 50;

interface Job {
  readonly digest: Uint8Array;
  readonly signature: string;
  /** null: it was not recovered here. */
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

  /**
   * @param threads one for each other core unless given, four at most; 0 recovers nothing here
   * @param script the compiled `recovery-worker`, for who does not run compiled code
   */
  constructor(
    threads = Math.min(MAX_THREADS, availableParallelism() - 1),
    script = new URL('./recovery-worker.js', import.meta.url),
  ) {
    this.threads = threads;
    this.script = fileURLToPath(script);
  }

  /** Who made it; null when the caller does better to find out itself. */
  recover(digest: Uint8Array, signature: string): Promise<Recovered | null> | null {
    if (this.threads === 0 || this.isClosed) return null;
    return new Promise((done) => {
      this.waiting.push({ digest, signature, done });
      if (this.isScheduled) return;
      this.isScheduled = true;
      setImmediate(() => {
        this.isScheduled = false;
        this.dispatch();
      });
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.leave(this.waiting.splice(0));
    await this.pool?.terminate(true);
  }

  private dispatch(): void {
    const { waiting, threads } = this;
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
      const signer = signers?.[i];
      done(signer === undefined ? null : { signer });
    });
    if (this.waiting.length > 0) this.dispatch();
  }

  /** null when a thread failed, which is as if there were none. */
  private async ask(jobs: readonly Job[]): Promise<readonly (Address | null)[] | null> {
    const digests = new Uint8Array(32 * jobs.length);
    for (const [i, { digest }] of jobs.entries()) digests.set(digest, 32 * i);
    const task: RecoveryTask = { digests, signatures: jobs.map(({ signature }) => signature) };
    try {
      return ((await this.pool?.exec('recoverAll', [task])) ?? null) as
        readonly (Address | null)[] | null;
    } catch {
      this.isReady = false;
      return null;
    }
  }

  private leave(jobs: readonly Job[]): void {
    for (const { done } of jobs) done(null);
  }
}
