/**
 * Finds repeated records that have no ids of the venue. Best prices, snapshots, updates and new
 * orders repeat if two in succession have the same times and content. Trades and prices of one time
 * may be equal by right, so they count only if the recording has each of them an even number of
 * times.
 */
import type { RecordKind, TapeRecord } from './record.ts';

/** Instants that show a copy: by chance, equal records are not in pairs at each of them. */
const MIN_INSTANTS = 8;

export class Repeats {
  private adjacent = 0;
  private readonly last = new Map<RecordKind, TapeRecord>();
  private readonly pairs = new Map<RecordKind, Pairs>();

  /** Next record in order of time. */
  take(record: TapeRecord): void {
    switch (record.kind) {
      case 'touch':
      case 'snapshot':
      case 'depth':
      case 'order': {
        const last = this.last.get(record.kind);
        if (last?.timeUs === record.timeUs && isRepeated(last, record)) this.adjacent += 1;
        this.last.set(record.kind, record);
        return;
      }
      case 'trade':
      case 'mark':
      case 'index': {
        const pairs = this.pairs.get(record.kind) ?? new Pairs();
        this.pairs.set(record.kind, pairs);
        pairs.take(record);
        return;
      }
      default:
    }
  }

  /** Number of repeated records. */
  get count(): number {
    let count = this.adjacent;
    for (const pairs of this.pairs.values()) count += pairs.repeated;
    return count;
  }
}

/** Whether all records of a kind are there in pairs. */
class Pairs {
  private instants = 0;
  private records = 0;
  private allPaired = true;
  private timeUs = -1;
  private lastId = -1;
  /** Content of the records at this time that have no copy yet. */
  private readonly single = new Set<string>();

  take(record: TapeRecord): void {
    if (!this.allPaired) return;
    if (record.timeUs !== this.timeUs) {
      this.endInstant();
      this.timeUs = record.timeUs;
      this.instants += 1;
    }
    // A copy with the venue's id is found by its id.
    if (record.kind === 'trade') {
      if (record.tradeId === this.lastId) this.allPaired = false;
      this.lastId = record.tradeId;
    }
    this.records += 1;
    const content = contentOf(record);
    if (!this.single.delete(content)) this.single.add(content);
  }

  get repeated(): number {
    this.endInstant();
    return this.allPaired && this.instants >= MIN_INSTANTS ? this.records / 2 : 0;
  }

  private endInstant(): void {
    if (this.single.size > 0) this.allPaired = false;
    this.single.clear();
  }
}

function isRepeated(a: TapeRecord, b: TapeRecord): boolean {
  // Equal ids of updates are found by their chain; one order is reduced twice by the same size.
  if (a.kind === 'depth' && b.kind === 'depth' && a.lastId === b.lastId) return false;
  if (b.kind === 'order' && b.action !== 'add' && b.action !== 'remove') return false;
  return contentOf(a) === contentOf(b);
}

/** All of a record but what differs in a copy of it: the line, and ids that an import assigns. */
function contentOf(record: TapeRecord): string {
  const assigned = ['line', 'lastId', 'firstId', 'prevId', 'tradeId'];
  return JSON.stringify(record, (key, value: unknown) =>
    assigned.includes(key) ? undefined : value,
  );
}
