/**
 * A worker of campaigns: claims jobs up to its number of slots, renews their leases, stores their
 * results, and drives campaigns that have no driver.
 */
import { DatabaseError } from '../postgres/address.ts';
import type { Campaign, Job, JobLimits, JobStore } from '../postgres/jobs/job-store.ts';
import { isOfData } from '../postgres/jobs/patience.ts';
import { drive } from './drive.ts';
import { MissingFile, type FileCache } from './file-cache.ts';
import { FileError } from '../platform/file-error.ts';
import { CampaignError, RemoteJobs } from './remote-jobs.ts';
import type { CampaignSpec } from './spec.ts';

const IDLE_MS = 100;
const MOST_IDLE_MS = 1000;
const ENROL_MS = 15_000;
/** Interval between looks for a campaign without a driver. */
const LOOK_MS = 500;

export interface WorkerOptions {
  readonly store: JobStore;
  readonly cache: FileCache;
  /** Unique among all workers. */
  readonly id: string;
  readonly version: string;
  /** Jobs at the same time. */
  readonly slots: number;
  readonly limits: JobLimits;
  /** JSON of the job's result; null if stopped. */
  readonly execute: (job: Job) => Promise<string | null>;
  readonly stopped: () => boolean;
  /** Ends when there has been no work for so long; null: never. */
  readonly idleLimitMs: number | null;
  readonly onNote: (text: string) => void;
}

export interface WorkerTotals {
  readonly done: number;
  readonly failed: number;
  /** Results that another worker had stored before. */
  readonly repeated: number;
}

export class CampaignWorker {
  private readonly options: WorkerOptions;
  /** By job. */
  private readonly running = new Map<string, Promise<void>>();
  private readonly drives = new Map<string, Promise<void>>();
  private readonly totals = { done: 0, failed: 0, repeated: 0 };
  /** A fault of this worker, such as a full disk. */
  private fault: Error | null = null;
  private beating: Promise<unknown> | null = null;
  private refused = '';
  private lookedMs = -Infinity;

  constructor(options: WorkerOptions) {
    this.options = options;
  }

  /** Works until stopped. Rejects if this machine cannot work, or only other versions are asked. */
  async run(): Promise<WorkerTotals> {
    const { store, id, version, slots, limits } = this.options;
    await this.refuseOtherVersions(true);
    await store.enrol(id, version, slots);
    const beat = setInterval(() => {
      this.beating ??= this.beat().finally(() => (this.beating = null));
    }, limits.leaseMs / 3);
    try {
      await this.work();
      await Promise.all([...this.running.values(), ...this.drives.values()]);
    } finally {
      clearInterval(beat);
      await this.beating;
      await store.release(id);
    }
    if (this.fault !== null) throw this.fault;
    return this.totals;
  }

  private isOver(): boolean {
    return this.options.stopped() || this.fault !== null;
  }

  private readonly keepFault = (error: unknown): void => {
    if (!this.options.stopped()) this.fault ??= error as Error;
  };

  private async work(): Promise<void> {
    const { store, id, version, slots, limits, idleLimitMs } = this.options;
    let idleMs = IDLE_MS;
    let enrolledMs = performance.now();
    let workedMs = enrolledMs;
    while (!this.isOver()) {
      if (performance.now() - enrolledMs > ENROL_MS) {
        enrolledMs = performance.now();
        await store.enrol(id, version, slots);
        await this.refuseOtherVersions(false);
      }
      await this.takeDrive();
      const job = this.running.size < slots ? await store.claim(id, version, limits) : null;
      if (job !== null) {
        const run = this.attempt(job)
          .catch(this.keepFault)
          .finally(() => this.running.delete(job.id));
        this.running.set(job.id, run);
        idleMs = IDLE_MS;
        continue;
      }
      if (this.running.size > 0 || this.drives.size > 0) workedMs = performance.now();
      if (idleLimitMs !== null && performance.now() - workedMs > idleLimitMs) return;
      const pause = new Promise<void>((resolve) => setTimeout(resolve, idleMs));
      await (this.running.size < slots ? pause : Promise.race([...this.running.values(), pause]));
      idleMs = this.running.size < slots ? Math.min(MOST_IDLE_MS, idleMs * 1.5) : IDLE_MS;
    }
  }

  private async attempt(job: Job): Promise<void> {
    const { store, id, execute, limits, onNote } = this.options;
    try {
      const result = await execute(job);
      if (result === null) return;
      const completion = await store.complete(id, job.id, storable(result));
      this.totals.done += 1;
      if (completion !== 'first') this.totals.repeated += 1;
      if (completion === 'differs') onNote(`job ${job.id}: another worker has another result`);
    } catch (error) {
      if (isOwnFault(error)) {
        this.keepFault(error);
        return;
      }
      this.totals.failed += 1;
      const { message } = error as Error;
      onNote(`job ${job.id.slice(0, 12)} failed, attempt ${String(job.attempts)}: ${message}`);
      await store.fail(id, job.id, message, limits);
    }
  }

  private async takeDrive(): Promise<void> {
    if (performance.now() - this.lookedMs < LOOK_MS) return;
    this.lookedMs = performance.now();
    const { store, id, version, limits } = this.options;
    const campaign = await store.drive(id, version, limits.leaseMs);
    if (campaign === null || this.drives.has(campaign.id)) return;
    const driven = this.driveOne(campaign)
      .catch(this.keepFault)
      .finally(() => this.drives.delete(campaign.id));
    this.drives.set(campaign.id, driven);
  }

  private async driveOne({ id, spec: text, title }: Campaign): Promise<void> {
    const { store, cache, version, onNote } = this.options;
    const stopped = (): boolean => this.isOver();
    const jobs = new RemoteJobs({ store, campaign: id, version, stopped });
    try {
      const spec = JSON.parse(text) as CampaignSpec;
      const isDone = await drive(spec, { jobs, cache, stopped });
      if (isDone) await store.end(id, 'done', null);
    } catch (error) {
      onNote(`${title}: ${(error as Error).message}`);
      if (isOwnFault(error)) {
        this.keepFault(error);
        return;
      }
      // What does not depend on the job that is set aside goes on.
      if (error instanceof CampaignError) await jobs.settled();
      if (!stopped()) await store.end(id, 'failed', (error as Error).message);
    } finally {
      await jobs.close();
    }
  }

  private async beat(): Promise<void> {
    const { store, id, limits, onNote } = this.options;
    try {
      await store.renew(id, [...this.running.keys()], limits.leaseMs);
      await store.driven(id, limits.leaseMs);
    } catch (error) {
      onNote(`the leases are not renewed: ${(error as Error).message}`);
    }
  }

  /** A worker must not run jobs of another version; `isStart`: it ends if there are no others. */
  private async refuseOtherVersions(isStart: boolean): Promise<void> {
    const { store, version, onNote } = this.options;
    const versions = await store.versions();
    const others = versions.filter((one) => one !== version).join('; ');
    if (versions.length === 0 || versions.includes(version) || others === this.refused) return;
    this.refused = others;
    const message = `the campaigns need ${others}; this worker is ${version}`;
    if (isStart) throw new CampaignError(message);
    onNote(message);
  }
}

/**
 * A full or broken disk, or a database that takes no statements of this worker, as without rights:
 * other machines may do better.
 */
function isOwnFault(error: unknown): boolean {
  if (error instanceof DatabaseError) return !isOfData(error);
  return error instanceof FileError && !(error instanceof MissingFile);
}

/** Without the characters that PostgreSQL does not accept in JSON. */
function storable(json: string): string {
  // An escape has an odd number of backslashes; two are a backslash of the text.
  return json.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/gi, '$1\\ufffd');
}
