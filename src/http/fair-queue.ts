/**
 * Order of work among callers, by the cost of their recent pieces. A caller is light or heavy by
 * its mean cost; a piece with a high expected cost, such as a batch, is heavy work of any caller.
 * Work of light callers runs at once, up to `SLICE_MS` in a turn of the event loop; beyond it the
 * lightest caller is next, and a new caller is last. Of heavy callers one piece runs in a turn, or
 * several that take `HEAVY_SLICE_MS` together: a busy process makes light callers look heavy. Next
 * is the one with the least recent work. So a light caller waits for one heavy piece, whatever
 * the others send, and heavy callers share the rest of the time equally: all of it, or half of it
 * while light ones are active. A caller that begins to wait counts as having done what the last one
 * had that ran, so that new callers are not always first.
 *
 * Begun requests of heavy callers come before those that have not begun: a parsed batch that waits
 * is garbage that the collector copies. Work of one caller keeps its order. Recent work is a sum
 * with a half-life of one second. It is kept in forward decay: new work weighs more instead of old
 * work less, so that sums of different times compare without an update.
 *
 * Cost: constant while nothing waits; then one pass over the waiting callers per piece.
 */
const SLICE_MS = 2;
const HEAVY_SLICE_MS = 1.5;
/** Mean cost of a piece above which a caller is heavy, or expected cost above which a piece is. */
const HEAVY_MS = 0.4;
/** Weight of a piece in that mean, and its bound: a slow piece may be a pause of the process. */
const MEAN_WEIGHT = 1 / 32;
const MAX_SAMPLE_MS = 2;
/** Time since work of a light caller for which light callers are active. */
const ACTIVE_MS = 100;
const HALF_LIFE_MS = 1000;
/** Interval of the division that keeps the weights small; then old callers are forgotten. */
const REBASE_MS = 30_000;
const FORGOTTEN_MS = 0.001;

/** An account, a connection without a token, or the address of its large requests. */
export type WorkCaller = string | object;

/** Whether a piece with this expected cost is heavy work of any caller. */
export function isLarge(expectedMs: number): boolean {
  return expectedMs > HEAVY_MS;
}

interface Piece {
  readonly run: () => void;
  readonly expectedMs: number;
  /** An earlier piece of the same request has run. */
  readonly continues: boolean;
}

interface Share {
  /** Weighted sum of its work, at least that of others when it begins to wait. */
  used: number;
  /** Mean cost of its recent pieces. */
  meanMs: number;
  readonly waiting: Piece[];
  /** Index of the first waiting piece. */
  first: number;
}

/** Index behind the pieces of begun requests, which are first. */
function afterContinued({ waiting, first }: Share): number {
  let at = first;
  while (waiting[at]?.continues === true) at += 1;
  return at;
}

function precedes(a: Share, b: Share, by: 'meanMs' | 'used'): boolean {
  const continues = (share: Share): boolean => share.waiting[share.first]?.continues === true;
  if (by === 'used' && continues(a) !== continues(b)) return continues(a);
  return a[by] < b[by];
}

export class FairQueue {
  private readonly shares = new Map<WorkCaller, Share>();
  private readonly busy = { light: new Set<Share>(), heavy: new Set<Share>() };
  private readonly nowMs: () => number;
  /** Work of light callers in this turn of the event loop. */
  private turnMs = 0;
  /** Heavy work of this turn, which has one share of it. */
  private heavyMs = 0;
  private heavyStartedMs = 0;
  private isTurnOpen = false;
  /** Time of the last work of a light caller, and from which the next heavy piece may run. */
  private lightAtMs = -Infinity;
  private heavyFromMs = -Infinity;
  private pause: NodeJS.Timeout | null = null;
  /** `used` of the heavy caller that ran last, after it. */
  private usedOfLast = 0;
  /** Time at which work has the weight 1. */
  private baseMs: number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.nowMs = nowMs;
    this.baseMs = nowMs();
  }

  /** Pieces of this caller that wait. */
  waitingOf(caller: WorkCaller): number {
    const share = this.shares.get(caller);
    return share === undefined ? 0 : share.waiting.length - share.first;
  }

  /**
   * Runs work in the caller's turn: at once, or later with a promise. Without an expected cost, the
   * caller's mean decides. `continues`: an earlier piece of the same request has run.
   */
  run<T>(
    caller: WorkCaller,
    work: () => T,
    expectedMs = 0,
    continues = false,
  ): T | Promise<Awaited<T>> {
    const share = this.shareOf(caller);
    const { light, heavy } = this.busy;
    const isHeavy = share.meanMs > HEAVY_MS || isLarge(expectedMs);
    this.openTurn();
    const mustWait = isHeavy ? heavy.size + light.size + this.heavyMs > 0 : light.size > 0;
    if (!mustWait && !heavy.has(share) && this.turnMs < SLICE_MS) {
      if (!isHeavy) return this.timed(share, work);
      return this.timedHeavy(() => this.timed(share, work));
    }
    // Pieces that wait are in one set: the order of the caller's work.
    if (!light.has(share) && !heavy.has(share)) {
      (isHeavy ? heavy : light).add(share);
      if (isHeavy) share.used = Math.max(share.used, this.usedOfLast);
    }
    return new Promise<Awaited<T>>((resolve) => {
      const run = (): void => {
        resolve(this.settled(share, work));
      };
      const piece = { run, expectedMs, continues };
      if (continues) share.waiting.splice(afterContinued(share), 0, piece);
      else share.waiting.push(piece);
    });
  }

  /** Runs the work now; the promise has its result or its error. */
  private async settled<T>(share: Share, work: () => T): Promise<Awaited<T>> {
    return await this.timed(share, work);
  }

  private shareOf(caller: WorkCaller): Share {
    let share = this.shares.get(caller);
    if (share === undefined) {
      share = { used: 0, meanMs: HEAVY_MS, waiting: [], first: 0 };
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
      if (share.meanMs < HEAVY_MS) this.lightAtMs = now;
      if (now - this.baseMs > REBASE_MS) this.rebase(now);
      share.used += ms * 2 ** ((now - this.baseMs) / HALF_LIFE_MS);
      share.meanMs += MEAN_WEIGHT * (Math.min(ms, MAX_SAMPLE_MS) - share.meanMs);
    }
  }

  private openTurn(): void {
    if (this.isTurnOpen) return;
    this.isTurnOpen = true;
    setImmediate(() => {
      this.isTurnOpen = false;
      this.turnMs = 0;
      this.runTurn();
      this.heavyMs = 0;
    });
  }

  private runTurn(): void {
    const { light, heavy } = this.busy;
    while (light.size > 0 && this.turnMs < SLICE_MS) this.runNext(light, 'meanMs');
    if (heavy.size > 0 && this.heavyMs === 0 && this.nowMs() >= this.heavyFromMs) this.runHeavy();
    const pauseMs = this.heavyFromMs - this.nowMs();
    if (light.size > 0 || (heavy.size > 0 && pauseMs <= 0)) this.openTurn();
    else if (heavy.size > 0) {
      this.pause ??= setTimeout(() => {
        this.pause = null;
        this.openTurn();
      }, Math.ceil(pauseMs));
    }
  }

  private runHeavy(): void {
    this.timedHeavy(() => {
      for (let share = this.runNext(this.busy.heavy, 'used'); share !== null;) {
        this.usedOfLast = Math.max(this.usedOfLast, share.used);
        const leftMs = HEAVY_SLICE_MS - (this.nowMs() - this.heavyStartedMs);
        share = leftMs > 0 ? this.runNext(this.busy.heavy, 'used', leftMs) : null;
      }
    });
  }

  /** Heavy work has its own part of a turn, and a pause after it. */
  private timedHeavy<T>(work: () => T): T {
    const lightMs = this.turnMs;
    const started = this.nowMs();
    this.heavyStartedMs = started;
    try {
      return work();
    } finally {
      const ended = this.nowMs();
      this.turnMs = lightMs;
      this.heavyMs = Math.max(ended - started, Number.MIN_VALUE);
      this.heavyFromMs = ended - this.lightAtMs < ACTIVE_MS ? 2 * ended - started : ended;
    }
  }

  /** Runs a piece of the caller with the least `by`; none if it is expected to cost more. */
  private runNext(busy: Set<Share>, by: 'meanMs' | 'used', maxMs = Infinity): Share | null {
    let next: Share | null = null;
    for (const share of busy) {
      if (next === null || precedes(share, next, by)) next = share;
    }
    const piece = next?.waiting[next.first];
    if (next === null || piece === undefined) return null;
    if (Math.max(next.meanMs, piece.expectedMs) > maxMs) return null;
    next.first += 1;
    if (next.first === next.waiting.length) {
      next.waiting.length = 0;
      next.first = 0;
      busy.delete(next);
    }
    piece.run();
    return next;
  }

  private rebase(now: number): void {
    const divisor = 2 ** ((now - this.baseMs) / HALF_LIFE_MS);
    this.baseMs = now;
    this.usedOfLast /= divisor;
    for (const [caller, share] of this.shares) {
      share.used /= divisor;
      if (share.used < FORGOTTEN_MS && share.waiting.length === 0) this.shares.delete(caller);
    }
  }
}
