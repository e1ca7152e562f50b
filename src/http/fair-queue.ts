/**
 * Order of work among callers. Work runs at once while the current turn of the event loop has done
 * less than `SLICE_MS`. Beyond it work waits, and each later turn runs a slice: next is the caller
 * with the least recent work, and work of one caller keeps its order. So a light caller waits for
 * one slice and one piece of work, whatever the others send.
 *
 * Recent work is a sum with a half-life of one second. It is kept in forward decay: new work weighs
 * more instead of old work less, so that sums of different times compare without an update.
 *
 * Cost: constant while nothing waits; then one pass over the waiting callers per piece.
 */
const SLICE_MS = 2;
const HALF_LIFE_MS = 1000;
/** Interval of the division that keeps the weights small; then old callers are forgotten. */
const REBASE_MS = 30_000;
const FORGOTTEN_MS = 0.001;

/** An account, or a connection without a token. */
export type WorkCaller = string | object;

interface Share {
  /** Weighted sum of its work. */
  used: number;
  readonly waiting: (() => void)[];
  /** Index of the first waiting piece. */
  first: number;
}

export class FairQueue {
  private readonly shares = new Map<WorkCaller, Share>();
  private readonly busy = new Set<Share>();
  private readonly nowMs: () => number;
  /** Work of this turn of the event loop. */
  private turnMs = 0;
  private isTurnOpen = false;
  /** Time at which work has the weight 1. */
  private baseMs: number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs;
    this.baseMs = nowMs();
  }

  /** Pieces that wait. */
  get waiting(): number {
    let count = 0;
    for (const { waiting, first } of this.busy) count += waiting.length - first;
    return count;
  }

  /** Pieces of this caller that wait. */
  waitingOf(caller: WorkCaller): number {
    const share = this.shares.get(caller);
    return share === undefined ? 0 : share.waiting.length - share.first;
  }

  /** Runs work in the caller's turn: at once, or later with a promise. */
  run<T>(caller: WorkCaller, work: () => T): T | Promise<Awaited<T>> {
    const share = this.shareOf(caller);
    if (this.busy.size === 0 && this.turnMs < SLICE_MS) {
      this.openTurn();
      return this.timed(share, work);
    }
    this.busy.add(share);
    this.openTurn();
    return new Promise((resolve, reject) => {
      share.waiting.push(() => {
        try {
          resolve(this.timed(share, work) as Awaited<T>);
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  }

  private shareOf(caller: WorkCaller): Share {
    let share = this.shares.get(caller);
    if (share === undefined) {
      share = { used: 0, waiting: [], first: 0 };
      this.shares.set(caller, share);
    }
    return share;
  }

  private timed<T>(share: Share, work: () => T): T {
    const started = this.nowMs();
    try {
      return work();
    } finally {
      const now = this.nowMs();
      const ms = now - started;
      this.turnMs += ms;
      if (now - this.baseMs > REBASE_MS) this.rebase(now);
      share.used += ms * 2 ** ((now - this.baseMs) / HALF_LIFE_MS);
    }
  }

  private openTurn(): void {
    if (this.isTurnOpen) return;
    this.isTurnOpen = true;
    setImmediate(() => {
      this.isTurnOpen = false;
      this.turnMs = 0;
      if (this.busy.size > 0) this.runSlice();
    });
  }

  private runSlice(): void {
    do {
      const share = this.leastBusy();
      if (share === null) break;
      const piece = share.waiting[share.first];
      share.first += 1;
      if (share.first === share.waiting.length) {
        share.waiting.length = 0;
        share.first = 0;
        this.busy.delete(share);
      }
      piece?.();
    } while (this.turnMs < SLICE_MS);
    this.openTurn();
  }

  private leastBusy(): Share | null {
    let found: Share | null = null;
    for (const share of this.busy) {
      if (found === null || share.used < found.used) found = share;
    }
    return found;
  }

  private rebase(now: number): void {
    const divisor = 2 ** ((now - this.baseMs) / HALF_LIFE_MS);
    this.baseMs = now;
    for (const [caller, share] of this.shares) {
      share.used /= divisor;
      if (share.used < FORGOTTEN_MS && share.waiting.length === 0) this.shares.delete(caller);
    }
  }
}
