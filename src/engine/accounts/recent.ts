/** The newest history entries of each subaccount; outside the state hash. */
import { archiveList, type Archive } from '../../base/archive.ts';
import type { SubaccountId, TimeUs } from '../../num/units.ts';

export interface Dated {
  readonly subaccount: SubaccountId;
  readonly timeUs: TimeUs;
}

interface Entries<T> {
  items: T[];
  /** Entries before this index are beyond retention; the array is trimmed in blocks. */
  start: number;
  cut: boolean;
}

export class Recent<T extends Dated> {
  private readonly limit: number;
  private readonly bySubaccount = new Map<SubaccountId, Entries<T>>();

  /** Keeps the newest `limit` entries of each subaccount. */
  constructor(limit: number) {
    this.limit = limit;
  }

  add(entry: T): void {
    let entries = this.bySubaccount.get(entry.subaccount);
    if (entries === undefined) {
      entries = { items: [], start: 0, cut: false };
      this.bySubaccount.set(entry.subaccount, entries);
    }
    entries.items.push(entry);
    if (entries.items.length - entries.start <= this.limit) return;
    entries.start += 1;
    entries.cut = true;
    if (entries.start > this.limit) {
      entries.items = entries.items.slice(entries.start);
      entries.start = 0;
    }
  }

  /** Oldest first. */
  of(id: SubaccountId): readonly T[] {
    const entries = this.bySubaccount.get(id);
    return entries === undefined ? [] : entries.items.slice(entries.start);
  }

  /** Time of the oldest entry kept; null if none was dropped. */
  keptSinceUs(id: SubaccountId): TimeUs | null {
    const entries = this.bySubaccount.get(id);
    return entries?.cut === true ? (entries.items[entries.start]?.timeUs ?? null) : null;
  }

  archive(
    io: Archive,
    section: string,
    each: (io: Archive, saved: T | null, subaccount: SubaccountId) => T,
  ): void {
    io.section(section);
    const ids = [...this.bySubaccount.keys()].sort((a, b) => a - b);
    const count = io.int(ids.length);
    for (let i = 0; i < count; i++) {
      const id = io.int(ids[i] ?? 0) as SubaccountId;
      const cut = io.bool(this.bySubaccount.get(id)?.cut ?? false);
      const items = archiveList(io, this.of(id), (saved) => each(io, saved, id));
      if (io.loading) this.bySubaccount.set(id, { items, start: 0, cut });
    }
  }
}
