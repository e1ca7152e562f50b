/**
 * Jobs that workers elsewhere run: asks for them in groups, and polls for their results. A job
 * that has a result already is not run again.
 */
import { UserError } from '../base/user-error.ts';
import type { EndedJob, JobStore, NewJob } from '../postgres/jobs/job-store.ts';
import { canonicalText, identityOf } from './job-id.ts';

const POLL_MS = 100;
const MOST_POLL_MS = 1000;
/** Interval between looks for jobs whose own campaign has ended. */
const ADOPT_MS = 2000;
const ASKED_AT_ONCE = 500;
/** Polled at once: the oldest, and as many in turn. */
const POLLED_AT_ONCE = 400;

/** A campaign that cannot go on: a job is set aside, or two results differ. */
export class CampaignError extends UserError {
  override readonly name = 'CampaignError';
  readonly code = 'worker';
}

interface Waiting {
  readonly deliver: (result: string | null) => void;
  readonly refuse: (error: Error) => void;
}

export interface RemoteJobsOptions {
  readonly store: JobStore;
  readonly campaign: string;
  readonly version: string;
  /** Polled: true delivers null to all who wait. */
  readonly stopped: () => boolean;
}

export class RemoteJobs {
  private readonly options: RemoteJobsOptions;
  private readonly jobs = new Map<string, Promise<string | null>>();
  private readonly waiting = new Map<string, Waiting>();
  private toAsk: NewJob[] = [];
  /** Jobs asked for. */
  private asked = 0;
  private turn = 0;
  private adoptedMs = -Infinity;
  private polling: Promise<void> | null = null;
  /** Ends the pause between polls. */
  private wake: () => void = () => undefined;
  private isClosed = false;
  private failure: Error | null = null;

  constructor(options: RemoteJobsOptions) {
    this.options = options;
  }

  /** Jobs asked for, and those without a result. */
  get counts(): { readonly asked: number; readonly waiting: number } {
    return { asked: this.asked, waiting: this.waiting.size };
  }

  /** As `run`, for a job that is not asked for again: its result is not kept. */
  runOnce(kind: string, task: unknown): Promise<string | null> {
    const result = this.run(kind, task);
    const id = identityOf(this.options.version, kind, task);
    const forget = (): void => void this.jobs.delete(id);
    result.then(forget, forget);
    return result;
  }

  /** JSON of the result; null if stopped. Rejects with `CampaignError`. */
  run(kind: string, task: unknown): Promise<string | null> {
    if (this.failure !== null) return Promise.reject(this.failure);
    if (this.isStopped()) return Promise.resolve(null);
    const id = identityOf(this.options.version, kind, task);
    const known = this.jobs.get(id);
    if (known !== undefined) return known;
    const result = new Promise<string | null>((deliver, refuse) => {
      this.waiting.set(id, { deliver, refuse });
    });
    this.jobs.set(id, result);
    this.toAsk.push({ id, place: this.asked++, kind, task: canonicalText(task) });
    // Further jobs of this turn of the event loop are asked for together.
    this.polling ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.poll());
    return result;
  }

  /** Resolves when every job that was asked for has ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.jobs.values());
  }

  /** Waits for nothing further: a search may end before all that it asked for. Delivers null. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.wake();
    await this.polling;
  }

  private isStopped(): boolean {
    return this.isClosed || this.options.stopped();
  }

  private async poll(): Promise<void> {
    try {
      let pauseMs = POLL_MS;
      while (this.waiting.size > 0) {
        if (this.isStopped()) {
          this.stop();
          break;
        }
        while (this.toAsk.length > 0) {
          const group = this.toAsk.splice(0, ASKED_AT_ONCE);
          await this.options.store.want(this.options.campaign, group);
        }
        const ended = await this.options.store.ended(this.polled());
        for (const job of ended) this.take(job);
        if (ended.length > 0) {
          pauseMs = POLL_MS;
          continue;
        }
        await this.adopt();
        await this.mustGoOn();
        if (!this.isStopped()) await this.pause(pauseMs);
        pauseMs = Math.min(MOST_POLL_MS, pauseMs * 1.5);
      }
      this.polling = null;
    } catch (error) {
      this.failure = error as Error;
      for (const { refuse } of this.waiting.values()) refuse(this.failure);
      this.waiting.clear();
    }
  }

  private async pause(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }

  private polled(): string[] {
    const ids = [...this.waiting.keys()];
    if (ids.length <= 2 * POLLED_AT_ONCE) return ids;
    const others = ids.slice(POLLED_AT_ONCE);
    this.turn = (this.turn + POLLED_AT_ONCE) % others.length;
    return [
      ...ids.slice(0, POLLED_AT_ONCE),
      ...others.slice(this.turn, this.turn + POLLED_AT_ONCE),
    ];
  }

  private take({ id, result, error }: EndedJob): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (result !== null) waiting?.deliver(result);
    else {
      const why = error ?? 'no reason';
      waiting?.refuse(new CampaignError(`job ${id.slice(0, 12)} is set aside: ${why}`));
    }
  }

  /** A job that waits for a campaign which has ended is queued for this one. */
  private async adopt(): Promise<void> {
    if (performance.now() - this.adoptedMs < ADOPT_MS) return;
    await this.options.store.adopt(this.options.campaign);
    this.adoptedMs = performance.now();
  }

  /** Throws if the campaign has failed; stops if it was cancelled. */
  private async mustGoOn(): Promise<void> {
    const campaign = await this.options.store.status(this.options.campaign);
    if (campaign?.status === 'failed') throw new CampaignError(campaign.error ?? 'it has failed');
    if (campaign?.status === 'cancelled') throw new CampaignError('the campaign was cancelled');
  }

  private stop(): void {
    for (const { deliver } of this.waiting.values()) deliver(null);
    this.waiting.clear();
    this.toAsk = [];
  }
}
