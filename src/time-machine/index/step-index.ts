/**
 * Index of a journal by command: its flags (two bytes each), its time (eight bytes each
 * `TIME_EVERY` commands), and prices by market. It answers where to go next without re-execution,
 * and draws the scrubber.
 */
import type { EngineEvent } from '../../engine/events.ts';
import { must } from '../../base/assert.ts';
import { PriceTrack, type PriceRange } from './price-track.ts';
import { STEP_FLAGS, type StepFlag } from './step-flags.ts';

/** Commands between two kept times. */
export const TIME_EVERY = 32;
const BLOCK = 1 << 16;

/** Buckets of equal width over the commands; every array has one entry for each bucket. */
export interface Density {
  /** First command of the first bucket, and commands in each. */
  readonly fromSeq: number;
  readonly width: number;
  readonly counts: Readonly<Record<StepFlag, readonly number[]>>;
  /** Time of the first command of a bucket, to `TIME_EVERY` commands. */
  readonly timesUs: readonly number[];
}

export class StepIndex {
  /** Command before the first one. */
  readonly baseSeq: number;
  private count = 0;
  private readonly flags: Uint16Array[] = [];
  private readonly times: number[] = [];
  private readonly marks: PriceTrack[] = [];
  private readonly trades: PriceTrack[] = [];
  private readonly tickSizes: string[] = [];
  private lastTimeUs = 0;

  constructor(baseSeq: number) {
    this.baseSeq = baseSeq;
  }

  /** Last indexed command. */
  get lastSeq(): number {
    return this.baseSeq + this.count;
  }
  get lastUs(): number {
    return this.lastTimeUs;
  }

  add(timeUs: number, flags: number): void {
    if (this.count % BLOCK === 0) this.flags.push(new Uint16Array(BLOCK));
    must(this.flags.at(-1), 'a block was added')[this.count % BLOCK] = flags;
    if (this.count % TIME_EVERY === 0) this.times.push(timeUs);
    this.lastTimeUs = timeUs;
    this.count += 1;
  }

  /** Tick size of a market that the journal lists, also before its listing; null otherwise. */
  tickSizeOf(market: number): string | null {
    return this.tickSizes[market] ?? null;
  }

  /** Prices of an event of the command that is added next. */
  addPrice(event: EngineEvent): void {
    if (event.kind === 'markChanged') {
      this.track(this.marks, event.market).add(this.count, event.markTicks);
    } else if (event.kind === 'tradePrinted') {
      this.track(this.trades, event.market).add(this.count, event.priceTicks);
    } else if (event.kind === 'marketListed') {
      this.tickSizes[event.market] = event.spec.tickSize;
    }
  }

  private track(tracks: PriceTrack[], market: number): PriceTrack {
    while (tracks.length <= market) tracks.push(new PriceTrack());
    return must(tracks[market], 'every market has a track');
  }

  flagsOf(seq: number): number {
    const at = seq - this.baseSeq - 1;
    return this.flags[Math.floor(at / BLOCK)]?.[at % BLOCK] ?? 0;
  }

  /** The next command after `seq` with one of the flags; null if none is indexed. */
  next(seq: number, mask: number): number | null {
    for (let at = Math.max(seq + 1, this.baseSeq + 1); at <= this.lastSeq; at++) {
      if ((this.flagsOf(at) & mask) !== 0) return at;
    }
    return null;
  }

  previous(seq: number, mask: number): number | null {
    for (let at = Math.min(seq - 1, this.lastSeq); at > this.baseSeq; at--) {
      if ((this.flagsOf(at) & mask) !== 0) return at;
    }
    return null;
  }

  /** Number of commands with the flag. */
  countOf(flag: StepFlag): number {
    let total = 0;
    for (let seq = this.baseSeq + 1; seq <= this.lastSeq; seq++) {
      if ((this.flagsOf(seq) & STEP_FLAGS[flag]) !== 0) total += 1;
    }
    return total;
  }

  /** The last kept command at or before a time: the seek ends less than `TIME_EVERY` after it. */
  seqBefore(timeUs: number): number {
    let low = 0;
    let high = this.times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.times[middle] ?? Infinity) <= timeUs) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? this.baseSeq : this.baseSeq + 1 + (low - 1) * TIME_EVERY;
  }

  /** Time of a command, rounded down to a kept one. */
  timeNear(seq: number): number {
    const at = Math.min(Math.max(0, seq - this.baseSeq - 1), Math.max(0, this.count - 1));
    return this.times[Math.floor(at / TIME_EVERY)] ?? 0;
  }

  density(buckets: number, fromSeq = this.baseSeq + 1, toSeq = this.lastSeq): Density {
    const from = Math.max(fromSeq, this.baseSeq + 1);
    const to = Math.min(toSeq, this.lastSeq);
    const width = Math.max(1, Math.ceil((to - from + 1) / Math.max(1, buckets)));
    const used = Math.max(0, Math.ceil((to - from + 1) / width));
    const names = Object.keys(STEP_FLAGS) as StepFlag[];
    const counts = Object.fromEntries(
      names.map((name) => [name, new Array<number>(used).fill(0)]),
    ) as Record<StepFlag, number[]>;
    for (let seq = from; seq <= to; seq++) {
      const flags = this.flagsOf(seq);
      if (flags === 0) continue;
      const bucket = Math.floor((seq - from) / width);
      for (const name of names) {
        if ((flags & STEP_FLAGS[name]) === 0) continue;
        const row = counts[name];
        row[bucket] = (row[bucket] ?? 0) + 1;
      }
    }
    const timesUs = Array.from({ length: used }, (_, i) => this.timeNear(from + i * width));
    return { fromSeq: from, width, counts, timesUs };
  }

  /** Prices in ticks by buckets; a bucket without a change has the last price before it. */
  prices(
    market: number,
    of: 'mark' | 'trade',
    buckets: number,
    fromSeq = this.baseSeq + 1,
    toSeq = this.lastSeq,
  ): readonly PriceRange[] {
    const track = (of === 'mark' ? this.marks : this.trades)[market];
    if (track === undefined) return [];
    const from = Math.max(0, fromSeq - this.baseSeq - 1);
    const to = Math.min(this.count, toSeq - this.baseSeq);
    return track
      .ranges(from, to, buckets)
      .map((range) => ({ ...range, seq: this.baseSeq + 1 + range.seq }));
  }
}
