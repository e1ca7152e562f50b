/**
 * Prices over the commands of a journal: lowest, highest and last of each bucket. Buckets double
 * their width when their number reaches the limit, so memory is constant.
 */
const MAX_BUCKETS = 1 << 14;

export interface PriceRange {
  /** First command of the bucket. */
  readonly seq: number;
  readonly low: number;
  readonly high: number;
  readonly last: number;
}

export class PriceTrack {
  /** Commands in a bucket. */
  private width = 1;
  private readonly low: number[] = [];
  private readonly high: number[] = [];
  /** NaN: no price yet, or none in the bucket. */
  private readonly last: number[] = [];

  /** `at`: number of the command, from 0, never decreasing. */
  add(at: number, ticks: number): void {
    let bucket = Math.floor(at / this.width);
    while (bucket >= MAX_BUCKETS) {
      this.merge();
      bucket = Math.floor(at / this.width);
    }
    while (this.last.length <= bucket) {
      this.low.push(NaN);
      this.high.push(NaN);
      this.last.push(NaN);
    }
    const low = this.low[bucket] ?? NaN;
    const high = this.high[bucket] ?? NaN;
    this.low[bucket] = Number.isNaN(low) ? ticks : Math.min(low, ticks);
    this.high[bucket] = Number.isNaN(high) ? ticks : Math.max(high, ticks);
    this.last[bucket] = ticks;
  }

  private merge(): void {
    const { low, high, last } = this;
    const half = Math.ceil(last.length / 2);
    for (let i = 0; i < half; i++) {
      low[i] = least(low[2 * i], low[2 * i + 1]);
      high[i] = -least(-(high[2 * i] ?? NaN), -(high[2 * i + 1] ?? NaN));
      const later = last[2 * i + 1] ?? NaN;
      last[i] = Number.isNaN(later) ? (last[2 * i] ?? NaN) : later;
    }
    low.length = half;
    high.length = half;
    last.length = half;
    this.width *= 2;
  }

  /** At most `buckets` ranges over the commands from `from` up to `to`. */
  ranges(from: number, to: number, buckets: number): PriceRange[] {
    const ranges: PriceRange[] = [];
    const width = Math.max(1, Math.ceil((to - from) / Math.max(1, buckets)));
    let before = this.lastBefore(from);
    for (let at = from; at < to; at += width) {
      let low = NaN;
      let high = NaN;
      let last = NaN;
      const first = Math.ceil(at / this.width);
      const end = Math.ceil(Math.min(to, at + width) / this.width);
      for (let i = first; i < end && i < this.last.length; i++) {
        const ticks = this.last[i] ?? NaN;
        if (Number.isNaN(ticks)) continue;
        low = least(low, this.low[i]);
        high = -least(-high, -(this.high[i] ?? NaN));
        last = ticks;
      }
      if (Number.isNaN(last)) {
        if (before !== null) ranges.push({ seq: at, low: before, high: before, last: before });
        continue;
      }
      before = last;
      ranges.push({ seq: at, low, high, last });
    }
    return ranges;
  }

  private lastBefore(at: number): number | null {
    for (let i = Math.min(Math.ceil(at / this.width), this.last.length) - 1; i >= 0; i--) {
      const ticks = this.last[i] ?? NaN;
      if (!Number.isNaN(ticks)) return ticks;
    }
    return null;
  }
}

/** The lesser; a NaN counts as no number. */
function least(a: number | undefined, b: number | undefined): number {
  if (a === undefined || Number.isNaN(a)) return b ?? NaN;
  if (b === undefined || Number.isNaN(b)) return a;
  return Math.min(a, b);
}
