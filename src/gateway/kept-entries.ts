/**
 * Bounded lists of dated entries, oldest first. Each list has a bound of its own, and all lists of
 * a `KeptTotal` together have another: beyond it, the oldest entry of all is dropped.
 */
import type { Moment, Retained } from '../engine/read/views.ts';
import { timeUs, type TimeUs } from '../num/units.ts';

/** An entry in the order of all lists. */
interface Kept {
  readonly list: KeptEntries<never>;
  older: Kept | null;
  newer: Kept | null;
}

interface KeptEntry<T> extends Kept {
  readonly entry: T;
}

export class KeptEntries<T extends Moment> {
  private readonly entries: KeptEntry<T>[] = [];
  private readonly max: number;
  /** Time of the newest entry that was dropped. */
  private droppedUs: number | null = null;

  constructor(max: number) {
    this.max = max;
  }

  get items(): readonly T[] {
    return this.entries.map(({ entry }) => entry);
  }

  /** If entries were dropped, the time of the oldest that is left, or just after the last. */
  get keptSinceUs(): TimeUs | null {
    if (this.droppedUs === null) return null;
    return timeUs(this.entries[0]?.entry.timeUs ?? this.droppedUs + 1);
  }

  get isOver(): boolean {
    return this.entries.length > this.max;
  }

  push(kept: KeptEntry<T>): void {
    this.entries.push(kept);
  }

  dropOldest(): Kept | undefined {
    const dropped = this.entries.shift();
    if (dropped !== undefined) this.droppedUs = dropped.entry.timeUs;
    return dropped;
  }

  /** Removes and returns entries of commands after `seq`. */
  removeAfter(seq: number): readonly KeptEntry<T>[] {
    const first = this.entries.findIndex(({ entry }) => entry.seq > seq);
    return first === -1 ? [] : this.entries.splice(first);
  }

  /** Newest first; `fromUs` inclusive, `toUs` exclusive, nothing after the moment `upTo`. */
  read(fromUs: number, toUs: number, limit: number, upTo?: Moment): Retained<T> {
    const found: T[] = [];
    for (let i = this.entries.length - 1; i >= 0 && found.length < limit; i--) {
      const entry = this.entries[i]?.entry;
      if (entry === undefined || entry.timeUs < fromUs) break;
      if (entry.timeUs >= toUs || (upTo !== undefined && isAfter(entry, upTo))) continue;
      found.push(entry);
    }
    return { items: found, keptSinceUs: this.keptSinceUs };
  }
}

const isAfter = (a: Moment, b: Moment): boolean =>
  a.timeUs > b.timeUs || (a.timeUs === b.timeUs && a.seq > b.seq);

/** The bound of all lists together. It counts the entries that are kept, and no others. */
export class KeptTotal {
  private readonly max: number;
  private oldest: Kept | null = null;
  private newest: Kept | null = null;
  private size = 0;

  constructor(max: number) {
    this.max = max;
  }

  add<T extends Moment>(list: KeptEntries<T>, entry: T): void {
    const kept: KeptEntry<T> = {
      list: list as KeptEntries<never>,
      entry,
      older: null,
      newer: null,
    };
    kept.older = this.newest;
    if (this.newest === null) this.oldest = kept;
    else this.newest.newer = kept;
    this.newest = kept;
    this.size += 1;
    list.push(kept);
    if (list.isOver) this.drop(list);
    // The oldest of all is also the oldest of its list.
    if (this.size > this.max && this.oldest !== null) this.drop(this.oldest.list);
  }

  /** Removes and returns entries of commands after `seq`. */
  cut<T extends Moment>(list: KeptEntries<T>, seq: number): readonly T[] {
    return list.removeAfter(seq).map((kept) => {
      this.unlink(kept);
      return kept.entry;
    });
  }

  private drop(list: Pick<KeptEntries<never>, 'dropOldest'>): void {
    const dropped = list.dropOldest();
    if (dropped !== undefined) this.unlink(dropped);
  }

  private unlink({ older, newer }: Kept): void {
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.newest = older;
    else newer.older = older;
    this.size -= 1;
  }
}
