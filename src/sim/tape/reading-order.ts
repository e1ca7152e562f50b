/**
 * Recorded lines in the venue's time (DESIGN §6). Streams of one venue arrive interleaved and slightly out of order;
 * what happened first must be applied first.
 *
 * Order: time; then at one time index, mark, funding, bars, snapshots, orders, trades, depth, touches; then the venue's own
 * id; then the line. A trade stands before the depth of its millisecond, since that depth restates what the trade left. Depth
 * updates and orders are never reordered among themselves: one whose time is before its predecessor's takes that time.
 *
 * Bounded: a record is held until another is `windowUs` newer. One that arrives later than that is released at once, at the
 * time reached, and counted.
 */
import { timeUs, type DurationUs, type TimeUs } from '../../num/units.ts';
import type { TapeRecord } from './record.ts';

const PRIORITY = {
  index: 0,
  mark: 1,
  funding: 2,
  bar: 3,
  snapshot: 4,
  order: 5,
  trade: 6,
  depth: 7,
  touch: 8,
} as const satisfies Record<TapeRecord['kind'], number>;

export interface OrderingFacts {
  /** Records whose venue time was before that of an earlier line. */
  outOfOrder: number;
  /** Records beyond the window, released at the time reached. */
  late: number;
  /** Local less venue time, µs: negative when the recorder's clock runs behind the venue's. */
  minFeedLatencyUs: number;
  maxFeedLatencyUs: number;
}

interface Held {
  readonly atUs: TimeUs;
  readonly record: TapeRecord;
}

export class ReadingOrder {
  readonly facts: OrderingFacts = {
    outOfOrder: 0,
    late: 0,
    minFeedLatencyUs: Infinity,
    maxFeedLatencyUs: -Infinity,
  };
  private readonly windowUs: DurationUs;
  private readonly before: (a: Held, b: Held) => boolean;
  private readonly heap: Held[] = [];
  private newestUs = 0;
  private newestLineUs = 0;
  private releasedUs = 0;
  private depthUs = 0;

  /** `asRecorded`: records of one time stay in the order of their lines, as single orders of a book must. */
  constructor(windowUs: DurationUs, asRecorded = false) {
    this.windowUs = windowUs;
    this.before = asRecorded ? recordedBefore : before;
  }

  /** Takes the next line's record, and adds those that are now due to `due`. */
  push(record: TapeRecord, due: TapeRecord[]): void {
    const { facts } = this;
    const latency = record.localUs - record.timeUs;
    facts.minFeedLatencyUs = Math.min(facts.minFeedLatencyUs, latency);
    facts.maxFeedLatencyUs = Math.max(facts.maxFeedLatencyUs, latency);
    if (record.timeUs < this.newestLineUs) facts.outOfOrder += 1;
    this.newestLineUs = Math.max(this.newestLineUs, record.timeUs);

    let atUs: number = record.timeUs;
    if (record.kind === 'depth' || record.kind === 'order') {
      atUs = Math.max(atUs, this.depthUs);
      this.depthUs = atUs;
    }
    if (atUs < this.releasedUs) {
      facts.late += 1;
      atUs = this.releasedUs;
    }
    this.insert({ atUs: timeUs(atUs), record });
    this.newestUs = Math.max(this.newestUs, atUs);
    this.release(this.newestUs - this.windowUs, due);
  }

  /** The rest, at the end of the recording. */
  flush(): TapeRecord[] {
    const due: TapeRecord[] = [];
    this.release(Infinity, due);
    return due;
  }

  private release(untilUs: number, due: TapeRecord[]): void {
    for (let top = this.heap[0]; top !== undefined && top.atUs <= untilUs; top = this.heap[0]) {
      this.removeTop();
      this.releasedUs = top.atUs;
      due.push(top.atUs === top.record.timeUs ? top.record : { ...top.record, timeUs: top.atUs });
    }
  }

  private insert(held: Held): void {
    const { heap } = this;
    let at = heap.length;
    heap.push(held);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || !this.before(held, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = held;
  }

  private removeTop(): void {
    const { heap } = this;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      let child = heap[childAt];
      if (child === undefined) break;
      const right = heap[childAt + 1];
      if (right !== undefined && this.before(right, child)) {
        child = right;
        childAt += 1;
      }
      if (!this.before(child, last)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
  }
}

/** The order of records of several streams of one market: those of one time by kind. */
export function inTapeOrder(a: TapeRecord, b: TapeRecord): number {
  return a.timeUs - b.timeUs || PRIORITY[a.kind] - PRIORITY[b.kind];
}

function recordedBefore(a: Held, b: Held): boolean {
  if (a.atUs !== b.atUs) return a.atUs < b.atUs;
  if (a.record.line !== b.record.line) return a.record.line < b.record.line;
  return PRIORITY[a.record.kind] < PRIORITY[b.record.kind];
}

function before(a: Held, b: Held): boolean {
  if (a.atUs !== b.atUs) return a.atUs < b.atUs;
  const kinds = PRIORITY[a.record.kind] - PRIORITY[b.record.kind];
  if (kinds !== 0) return kinds < 0;
  const ids = idOf(a.record) - idOf(b.record);
  return ids === 0 ? a.record.line < b.record.line : ids < 0;
}

function idOf(record: TapeRecord): number {
  switch (record.kind) {
    case 'trade':
      return record.tradeId;
    case 'touch':
      return record.updateId;
    case 'depth':
    case 'snapshot':
      return record.lastId;
    default:
      return record.line;
  }
}
