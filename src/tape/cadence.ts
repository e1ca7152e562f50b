/**
 * Finds silences of a feed: times without a record that are much longer than its usual intervals.
 * They are suspected gaps where the venue has no ids that show a missing record.
 *
 * An interval is compared with up to `AROUND` intervals before it and after it. It must be unusual
 * on both sides, so a quiet night or the start of a session is no silence. Intervals below
 * `MIN_US` are never reported. Memory is bounded; the cost of a record is a few stores.
 */

export interface Silence {
  readonly fromUs: number;
  readonly toUs: number;
}

/** The intervals of a feed, without its silences. */
export interface UsualIntervals {
  readonly meanUs: number;
  readonly longestUs: number;
}

/** Intervals on each side that an interval is compared with. */
const AROUND = 256;
const HELD = 2 * AROUND + 1;
const MIN_US = 1_000_000;
/** Below this number on a side, both sides are one sample. */
const MIN_SIDE = 30;
/** A sample below this size needs a silence half as long again. */
const SMALL_SAMPLE = 100;
/** Neighbours that show a fixed interval, as of funding rates. */
const FIXED_AROUND = 8;
const MIN_FIXED = 3;
/** The longest intervals of a sample may be silences themselves. */
const OUTLIERS = 2;
const MAX_LISTED = 1000;

export class Cadence {
  count = 0;
  readonly list: Silence[] = [];
  totalUs = 0;
  /** Intervals so far. */
  private taken = 0;
  private judged = 0;
  private usualCount = 0;
  private usualUs = 0;
  private longestUs = 0;
  private lastUs = -1;
  private readonly lengths = new Float64Array(HELD);
  private readonly endsUs = new Float64Array(HELD);
  private readonly isFixed: boolean;

  /** `isFixed`: records usually come at a fixed interval; then one missing record shows. */
  constructor(isFixed = false) {
    this.isFixed = isFixed;
  }

  /** Next record in order of time. */
  take(timeUs: number): void {
    if (this.lastUs >= 0) {
      const at = this.taken % HELD;
      this.lengths[at] = timeUs - this.lastUs;
      this.endsUs[at] = timeUs;
      this.taken += 1;
      if (this.taken - this.judged > AROUND) this.judge();
    }
    this.lastUs = timeUs;
  }

  /** Judges the last intervals, which few others follow. */
  finish(): void {
    while (this.judged < this.taken) this.judge();
  }

  /** Whether there are enough intervals to find a silence. */
  get isEnough(): boolean {
    return this.taken > (this.isFixed ? 2 * MIN_FIXED : MIN_SIDE);
  }

  /** Null without two records. Call after `finish`. */
  get usual(): UsualIntervals | null {
    if (this.usualCount === 0) return null;
    return { meanUs: Math.ceil(this.usualUs / this.usualCount), longestUs: this.longestUs };
  }

  private judge(): void {
    const i = this.judged;
    this.judged += 1;
    const us = this.lengths[i % HELD] ?? 0;
    if (us < MIN_US || us <= this.limitAt(i, us)) {
      this.usualCount += 1;
      this.usualUs += us;
      this.longestUs = Math.max(this.longestUs, us);
      return;
    }
    const toUs = this.endsUs[i % HELD] ?? 0;
    this.count += 1;
    this.totalUs += us;
    if (this.list.length < MAX_LISTED) this.list.push({ fromUs: toUs - us, toUs });
  }

  /** Length above which the interval `i` of length `us` is a silence. */
  private limitAt(i: number, us: number): number {
    if (this.isFixed) {
      const fixed = this.fixedLimit(i);
      if (fixed !== null) return fixed;
    }
    if (this.isUsual(i, us)) return Infinity;
    const before = this.slice(i - AROUND, i);
    const after = this.slice(i + 1, i + 1 + AROUND);
    const total = before.length + after.length;
    if (total < MIN_SIDE) return Infinity;
    if (Math.min(before.length, after.length) >= MIN_SIDE) {
      return Math.max(limitOf(before), limitOf(after));
    }
    return limitOf([...before, ...after]) * (total < SMALL_SAMPLE ? 1.5 : 1);
  }

  /** Fast path: some of the intervals before it are as long. */
  private isUsual(i: number, us: number): boolean {
    let asLong = 0;
    for (let k = i - 1; k >= Math.max(0, i - AROUND); k--) {
      if ((this.lengths[k % HELD] ?? 0) < us) continue;
      asLong += 1;
      if (asLong > OUTLIERS + 3) return true;
    }
    return false;
  }

  /** Null if the intervals near `i` are not equal. */
  private fixedLimit(i: number): number | null {
    const before = this.slice(i - FIXED_AROUND, i);
    const after = this.slice(i + 1, i + 1 + FIXED_AROUND);
    if (Math.min(before.length, after.length) < MIN_FIXED) return null;
    const near = [...before, ...after].sort((a, b) => a - b);
    const [least = 0] = near;
    // One of them may be a silence too.
    const most = near.at(-2) ?? 0;
    return most <= least * 1.05 ? most * 1.5 : null;
  }

  private slice(from: number, to: number): number[] {
    const found: number[] = [];
    for (let k = Math.max(0, from); k < Math.min(this.taken, to); k++) {
      found.push(this.lengths[k % HELD] ?? 0);
    }
    return found;
  }
}

/** Beyond the 99th percentile by eight times its distance from the median, and two medians. */
function limitOf(sample: readonly number[]): number {
  const sorted = [...sample].sort((a, b) => a - b);
  const n = sorted.length;
  const high = sorted[Math.max(0, Math.min(Math.floor(n * 0.99), n - 1 - OUTLIERS))] ?? 0;
  const median = sorted[n >> 1] ?? 0;
  return high + 8 * (high - median) + 2 * median;
}
