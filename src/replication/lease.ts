/**
 * Lease of a leader. The leader renews it by counting `beat` up. A follower takes over once it has
 * seen the same beat for the whole lease by its own clock. The leader counts from the moment at
 * which it sent the renewal, so its lease ends first; no clock is compared with another one. A
 * tenth of the lease is kept for clocks that run at different rates.
 *
 * The lease decides who answers reads. Appends are safe without it: they name their epoch.
 */
import type { StoreProblem } from '../journal/store-stopped.ts';
import type { JournalEnd, JournalStore, Ticker } from './ports.ts';

/** Share of the lease for which a leader relies on it. */
const RELIED = 0.9;
/** Renewals per lease. */
const BEATS = 5;

export interface LeaseOptions {
  readonly store: JournalStore;
  readonly ticker: Ticker;
  readonly epoch: number;
  readonly leaseMs: number;
  /** When the request that started or renewed the lease was sent. */
  readonly sentMs: number;
  /** Last command that this leader has committed. */
  readonly end: () => JournalEnd;
  readonly onLost: (reason: string) => void;
  readonly onProblem: (what: string, problem: StoreProblem) => void;
}

export class Lease {
  private readonly options: LeaseOptions;
  private untilMs: number;
  private stopped = false;
  private failing = false;
  private cancel: () => void = () => undefined;

  constructor(options: LeaseOptions) {
    this.options = options;
    this.untilMs = options.sentMs + RELIED * options.leaseMs;
    this.renewLater();
  }

  get isValid(): boolean {
    return !this.stopped && this.lapsedMs === 0;
  }

  /** Time since another server may lead, and commit what this one does not see. */
  get lapsedMs(): number {
    return Math.max(0, this.options.ticker.nowMs() - this.untilMs);
  }

  stop(): void {
    this.stopped = true;
    this.cancel();
  }

  private renewLater(): void {
    const { ticker, leaseMs } = this.options;
    this.cancel = ticker.after(leaseMs / BEATS, () => void this.renew());
  }

  private async renew(): Promise<void> {
    const { store, ticker, epoch, leaseMs, end, onLost, onProblem } = this.options;
    const sentMs = ticker.nowMs();
    try {
      const holds = await store.beat(epoch, end());
      if (this.stopped) return;
      if (!holds) {
        this.stop();
        onLost(await this.reason());
        return;
      }
      this.untilMs = Math.max(this.untilMs, sentMs + RELIED * leaseMs);
      if (this.failing) onProblem('the lease is renewed again', 'lease_renewed');
      this.failing = false;
    } catch (error) {
      if (!this.failing)
        onProblem(`the lease was not renewed: ${(error as Error).message}`, 'lease_not_renewed');
      this.failing = true;
    }
    // `stop` may have been called during the renewal.
    if (!this.isStopped()) this.renewLater();
  }

  /** Why the store denies a renewal. */
  private async reason(): Promise<string> {
    const { store, epoch, end } = this.options;
    const poll = await store.poll(end().seq).catch(() => null);
    if (poll?.lead.epoch === epoch) return 'the database has lost committed rows';
    return `epoch ${String(epoch)} is no longer in force`;
  }

  private isStopped(): boolean {
    return this.stopped;
  }
}
