/**
 * Bounded lists of dated entries, oldest first. Each list has a bound of its own, and all lists of
 * a `KeptTotal` together have another: beyond it, the oldest entry of all is dropped.
 */
import type { Moment, Retained } from '../engine/read/views.ts';
import type { TimeUs } from '../num/units.ts';

export class KeptEntries<T extends Moment> {
  private readonly entries: T[] = [];
  private readonly max: number;
  private hasDropped = false;
  /** Entries that left this list before their turn in the order of all lists. */
  private leftEarly = 0;

  constructor(max: number) {
    this.max = max;
  }

  get items(): readonly T[] {
    return this.entries;
  }

  /** Time of the oldest entry if older ones were dropped; otherwise null. */
  get keptSinceUs(): TimeUs | null {
    if (!this.hasDropped) return null;
    return (this.entries[0]?.timeUs ?? Infinity) as TimeUs;
  }

  push(entry: T): void {
    this.entries.push(entry);
    if (this.entries.length <= this.max) return;
    this.drop();
    this.leftEarly += 1;
  }

  /** The oldest of all lists is an entry of this one. */
  leave(): void {
    if (this.leftEarly > 0) this.leftEarly -= 1;
    else this.drop();
  }

  private drop(): void {
    this.entries.shift();
    this.hasDropped = true;
  }

  /** Removes and returns entries of commands after `seq`. */
  cut(seq: number): readonly T[] {
    const first = this.entries.findIndex((entry) => entry.seq > seq);
    if (first === -1) return [];
    const removed = this.entries.splice(first);
    this.leftEarly += removed.length;
    return removed;
  }

  /** Newest first; `fromUs` inclusive, `toUs` exclusive, nothing after the moment `upTo`. */
  read(fromUs: number, toUs: number, limit: number, upTo?: Moment): Retained<T> {
    const found: T[] = [];
    for (let i = this.entries.length - 1; i >= 0 && found.length < limit; i--) {
      const entry = this.entries[i];
      if (entry === undefined || entry.timeUs < fromUs) break;
      if (entry.timeUs >= toUs || (upTo !== undefined && isAfter(entry, upTo))) continue;
      found.push(entry);
    }
    return { items: found, keptSinceUs: this.keptSinceUs };
  }
}

const isAfter = (a: Moment, b: Moment): boolean =>
  a.timeUs > b.timeUs || (a.timeUs === b.timeUs && a.seq > b.seq);

/** The bound of all lists together. */
export class KeptTotal {
  private readonly order: (KeptEntries<never> | undefined)[] = [];
  private readonly max: number;
  private next = 0;

  constructor(max: number) {
    this.max = max;
  }

  add<T extends Moment>(list: KeptEntries<T>, entry: T): void {
    this.order[this.next]?.leave();
    this.order[this.next] = list as KeptEntries<never>;
    this.next = (this.next + 1) % this.max;
    list.push(entry);
  }
}
