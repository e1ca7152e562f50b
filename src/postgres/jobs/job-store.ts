/**
 * Campaigns and their jobs in PostgreSQL. The id of a job is the hash of what it does, so a job
 * that two campaigns want runs once, and its result is written once. Times are those of the
 * database. Each call is one statement that may be repeated.
 */
import { Session } from '../session.ts';
import { migrate } from '../migrations.ts';
import { JOB_SCHEMA } from './job-schema.ts';
import { patiently, type Patience } from './patience.ts';
import { FileStore } from './file-store.ts';
import * as sql from './job-sql.ts';

const CONNECT_MS = 10_000;
const ANSWER_MS = 60_000;
/** Time for a database that is starting. An address that is wrong shows after it. */
const OPEN_MS = 10_000;
/** Interval between searches for leases that ran out. */
const EXPIRE_MS = 500;

export type CampaignStatus = 'running' | 'done' | 'failed' | 'cancelled';

export interface NewCampaign {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  /** Only workers of this version run its jobs. */
  readonly version: string;
  readonly spec: string;
  readonly priority: number;
}

export interface Campaign extends NewCampaign {
  readonly status: CampaignStatus;
  readonly error: string | null;
}

export interface CampaignProgress extends Omit<Campaign, 'spec'> {
  readonly jobs: number;
  readonly done: number;
  readonly running: number;
  readonly setAside: number;
  readonly submittedAt: Date;
}

export interface NewJob {
  readonly id: string;
  readonly place: number;
  readonly kind: string;
  readonly task: string;
}

export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly task: string;
  readonly attempts: number;
}

export interface EndedJob {
  readonly id: string;
  /** Null for a job that is set aside. */
  readonly result: string | null;
  readonly error: string | null;
}

/** `differs`: the job has another result, and its campaigns have failed. */
export type Completion = 'first' | 'same' | 'differs';

export interface JobStoreOptions extends Patience {
  readonly address: string;
}

export interface JobLimits {
  readonly leaseMs: number;
  /** Attempts after which a job is set aside. */
  readonly maxAttempts: number;
}

export class JobStore {
  readonly files: FileStore;
  private readonly session: Session;
  /** Renewals do not wait for other statements. */
  private readonly renewals: Session;
  private readonly bulk: Session;
  private readonly patience: Patience;
  private expiredMs = -Infinity;

  private constructor({ address, ...patience }: JobStoreOptions) {
    const options = { address, connectMs: CONNECT_MS, answerMs: ANSWER_MS };
    this.session = new Session(options);
    this.renewals = new Session(options);
    this.bulk = new Session({ ...options, answerMs: 10 * ANSWER_MS });
    this.patience = patience;
    this.files = new FileStore(this.bulk, patience);
  }

  /** Throws `DatabaseError`. */
  static async open(options: JobStoreOptions): Promise<JobStore> {
    const store = new JobStore(options);
    const { onTrouble, stopped } = options;
    const startedMs = performance.now();
    try {
      await patiently(() => migrate(store.session, JOB_SCHEMA), {
        onTrouble,
        stopped: () => stopped() || performance.now() - startedMs > OPEN_MS,
      });
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  /**
   * Adds a campaign, or runs one again that failed or was cancelled. Returns its status before;
   * null if it is new.
   */
  async submit(campaign: NewCampaign): Promise<CampaignStatus | null> {
    const { id, kind, title, version, spec, priority } = campaign;
    const before = await this.campaign(id);
    await this.ask('submit', sql.SUBMIT, [id, kind, title, version, spec, priority]);
    if (before !== null && before.status !== 'running' && before.status !== 'done') {
      await this.ask('queue-again', sql.QUEUE_AGAIN, [id]);
    }
    return before?.status ?? null;
  }

  async campaign(id: string): Promise<Campaign | null> {
    const [row] = await this.ask<Campaign>('campaign', sql.CAMPAIGN, [id]);
    return row ?? null;
  }

  async status(id: string): Promise<Pick<Campaign, 'status' | 'error'> | null> {
    const [row] = await this.ask<Campaign>('status', sql.STATUS, [id]);
    return row ?? null;
  }

  /** Campaigns whose id starts with the text. */
  async list(start = ''): Promise<CampaignProgress[]> {
    return this.ask<CampaignProgress>('list', sql.LIST, [start]);
  }

  async setPriority(id: string, priority: number): Promise<void> {
    await this.ask('priority', sql.PRIORITY, [id, priority]);
  }

  /** Ends a running campaign; jobs that others want go on for them. */
  async end(id: string, status: CampaignStatus, error: string | null): Promise<void> {
    await this.ask('end', sql.END, [id, status, error]);
    await this.ask('hand-over', sql.HAND_OVER, [id]);
  }

  /** The value of the first call that has one for this name, for all reports of the campaign. */
  async fixed(id: string, name: string, value: number | null): Promise<number | null> {
    const [row] = await this.ask<{ value: string | null }>('fixed', sql.FIXED, [id, name, value]);
    return row?.value == null ? null : Number(row.value);
  }

  async want(campaign: string, jobs: readonly NewJob[]): Promise<void> {
    const rows = JSON.stringify(jobs);
    await this.ask('want', sql.WANT, [campaign, rows]);
  }

  /** Queues wanted jobs whose own campaign has ended for this one. */
  async adopt(campaign: string): Promise<void> {
    await this.ask('adopt', sql.ADOPT, [campaign]);
  }

  /** Those of the jobs that have ended. */
  async ended(ids: readonly string[]): Promise<EndedJob[]> {
    return this.ask<EndedJob>('ended', sql.ENDED, [ids]);
  }

  async enrol(worker: string, version: string, slots: number): Promise<void> {
    await this.ask('enrol', sql.ENROL, [worker, version, slots]);
  }

  /** Versions of the campaigns that are not over. */
  async versions(): Promise<string[]> {
    const rows = await this.ask<{ version: string }>('versions', sql.VERSIONS);
    return rows.map(({ version }) => version);
  }

  async workers(): Promise<number> {
    const [row] = await this.ask<{ slots: string }>('workers', sql.WORKERS);
    return Number(row?.slots ?? 0);
  }

  /**
   * The next job of the campaign with the highest priority and, among equals, with the fewest jobs
   * in progress. Null if there is none.
   */
  async claim(worker: string, version: string, limits: JobLimits): Promise<Job | null> {
    if (performance.now() - this.expiredMs > EXPIRE_MS) {
      this.expiredMs = performance.now();
      await this.ask('expire', sql.EXPIRE, [limits.maxAttempts]);
    }
    const values = [worker, version, limits.leaseMs / 1000];
    const [row] = await this.ask<Job>('claim', sql.CLAIM, values);
    return row ?? null;
  }

  /** Returns which of the jobs the worker still holds. */
  async renew(worker: string, ids: readonly string[], leaseMs: number): Promise<string[]> {
    const rows = await patiently(
      () => this.renewals.query<{ id: string }>('renew', sql.RENEW, [worker, leaseMs / 1000, ids]),
      this.patience,
    );
    return rows.map(({ id }) => id);
  }

  async complete(worker: string, id: string, result: string): Promise<Completion> {
    const [row] = await this.ask<{ outcome: Completion }>('complete', sql.COMPLETE, [
      ...[worker, id, result],
    ]);
    if (row !== undefined) return 'first';
    const [stored] = await this.ask<{ result: string }>('result', sql.RESULT, [id]);
    if (stored === undefined || stored.result === result) return 'same';
    await this.ask('dispute', sql.DISPUTE, [worker, id, result]);
    return 'differs';
  }

  /** Ends an attempt without a result: queued again after a pause, or set aside. */
  async fail(worker: string, id: string, error: string, limits: JobLimits): Promise<void> {
    await this.ask('fail', sql.FAIL, [worker, id, error, limits.maxAttempts]);
  }

  /** Returns what the worker holds to the queue; its attempts do not count. */
  async release(worker: string): Promise<void> {
    await this.ask('release', sql.RELEASE, [worker]);
  }

  /** A running campaign without a driver, which this worker drives now; null if there is none. */
  async drive(worker: string, version: string, leaseMs: number): Promise<Campaign | null> {
    const values = [worker, version, leaseMs / 1000];
    const [row] = await this.ask<Campaign>('drive', sql.DRIVE, values);
    return row ?? null;
  }

  /** Campaigns that the worker still drives. */
  async driven(worker: string, leaseMs: number): Promise<string[]> {
    const rows = await patiently(
      () => this.renewals.query<{ id: string }>('driven', sql.DRIVEN, [worker, leaseMs / 1000]),
      this.patience,
    );
    return rows.map(({ id }) => id);
  }

  async close(): Promise<void> {
    await Promise.all([this.session.close(), this.renewals.close(), this.bulk.close()]);
  }

  private ask<R extends object>(name: string, text: string, values: unknown[] = []): Promise<R[]> {
    return patiently(() => this.session.query<R>(name, text, values), this.patience);
  }
}
