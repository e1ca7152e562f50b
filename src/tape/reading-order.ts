/**
 * Orders recorded lines by venue time. Streams of one venue are interleaved and
 * slightly out of order in a recording; earlier events must be applied first.
 *
 * Order: time; at equal times index, mark, funding, bars, snapshots, orders, trades, depth,
 * touches; then the venue's id; then the line. A trade precedes the depth update of its
 * millisecond, because that update includes the trade's effect. Depth updates and orders keep their
 * relative order: an earlier time is replaced by the predecessor's.
 *
 * Bounded: a record is buffered until another is `windowUs` newer. A later one is released at once,
 * at the time reached, and counted.
 */
import { timeUs, type DurationUs } from '../num/units.ts';
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
  /** Records with a venue time before that of an earlier line. */
  outOfOrder: number;
  /** Records beyond the window, released at the time reached. */
  late: number;
  /** Local time minus venue time, µs; negative if the recorder's clock is behind the venue's. */
  minFeedLatencyUs: number;
  maxFeedLatencyUs: number;
}

type Before = (a: TapeRecord, b: TapeRecord) => boolean;

export class ReadingOrder {
  readonly facts: OrderingFacts = {
    outOfOrder: 0,
    late: 0,
    minFeedLatencyUs: Infinity,
    maxFeedLatencyUs: -Infinity,
  };
  private readonly windowUs: DurationUs;
  private readonly before: Before;
  /** Buffered records: those in order in a queue, those out of order in a heap. */
  private readonly queue = new RecordQueue();
  private readonly stragglers: RecordHeap;
  private newestUs = 0;
  private newestLineUs = 0;
  private releasedUs = 0;
  private depthUs = 0;

  /**
   * `asRecorded`: records of equal time keep their line order, as single orders of a book require.
   */
  constructor(windowUs: DurationUs, asRecorded = false) {
    this.windowUs = windowUs;
    this.before = asRecorded ? recordedBefore : before;
    this.stragglers = new RecordHeap(this.before);
  }

  /** Adds the records of the next lines; returns those that are due. */
  take(records: readonly TapeRecord[]): TapeRecord[] {
    const due: TapeRecord[] = [];
    for (const record of records) this.push(record, due);
    return due;
  }

  /** Adds the next line's record; appends due records to `due`. */
  push(record: TapeRecord, due: TapeRecord[]): void {
    const { facts } = this;
    const { kind, timeUs: lineUs } = record;
    const latency = record.localUs - lineUs;
    if (latency < facts.minFeedLatencyUs) facts.minFeedLatencyUs = latency;
    if (latency > facts.maxFeedLatencyUs) facts.maxFeedLatencyUs = latency;
    if (lineUs < this.newestLineUs) facts.outOfOrder += 1;
    else this.newestLineUs = lineUs;

    let atUs: number = lineUs;
    if (kind === 'depth' || kind === 'order') {
      atUs = Math.max(atUs, this.depthUs);
      this.depthUs = atUs;
    }
    if (atUs < this.releasedUs) {
      facts.late += 1;
      atUs = this.releasedUs;
    }
    this.hold(atUs === lineUs ? record : { ...record, timeUs: timeUs(atUs) });
    if (atUs > this.newestUs) this.newestUs = atUs;
    this.release(this.newestUs - this.windowUs, due);
  }

  /** All buffered records, at the end of the recording. */
  flush(): TapeRecord[] {
    const due: TapeRecord[] = [];
    this.release(Infinity, due);
    return due;
  }

  private hold(record: TapeRecord): void {
    const { last } = this.queue;
    if (last !== undefined && this.before(record, last)) this.stragglers.push(record);
    else this.queue.push(record);
  }

  private release(untilUs: number, due: TapeRecord[]): void {
    const { queue, stragglers } = this;
    for (;;) {
      const { first } = queue;
      const { top } = stragglers;
      const isTop = top !== undefined && (first === undefined || this.before(top, first));
      const next = isTop ? top : first;
      if (next === undefined || next.timeUs > untilUs) return;
      if (isTop) stragglers.removeTop();
      else queue.removeFirst();
      this.releasedUs = next.timeUs;
      due.push(next);
    }
  }
}

/** FIFO queue: a growing ring buffer. */
class RecordQueue {
  private ring: (TapeRecord | undefined)[] = new Array<undefined>(64).fill(undefined);
  private head = 0;
  private length = 0;

  get first(): TapeRecord | undefined {
    return this.ring[this.head];
  }

  get last(): TapeRecord | undefined {
    return this.ring[(this.head + this.length - 1) & (this.ring.length - 1)];
  }

  push(record: TapeRecord): void {
    if (this.length === this.ring.length) this.widen();
    this.ring[(this.head + this.length) & (this.ring.length - 1)] = record;
    this.length += 1;
  }

  removeFirst(): void {
    this.ring[this.head] = undefined;
    this.head = (this.head + 1) & (this.ring.length - 1);
    this.length -= 1;
  }

  private widen(): void {
    const { ring, head } = this;
    const spare = new Array<undefined>(ring.length).fill(undefined);
    this.ring = [...ring.slice(head), ...ring.slice(0, head), ...spare];
    this.head = 0;
  }
}

/** Binary min-heap of records. */
class RecordHeap {
  private readonly heap: TapeRecord[] = [];
  private readonly before: Before;

  constructor(before: Before) {
    this.before = before;
  }

  get top(): TapeRecord | undefined {
    return this.heap.length === 0 ? undefined : this.heap[0];
  }

  push(record: TapeRecord): void {
    const { heap } = this;
    let at = heap.length;
    heap.push(record);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || !this.before(record, parent)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = record;
  }

  removeTop(): void {
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

/** Whether a record precedes one of another stream of its market; at equal times by kind. */
export function inTapeOrder(a: TapeRecord, b: TapeRecord): boolean {
  return a.timeUs === b.timeUs ? PRIORITY[a.kind] < PRIORITY[b.kind] : a.timeUs < b.timeUs;
}

function recordedBefore(a: TapeRecord, b: TapeRecord): boolean {
  if (a.timeUs !== b.timeUs) return a.timeUs < b.timeUs;
  if (a.line !== b.line) return a.line < b.line;
  return PRIORITY[a.kind] < PRIORITY[b.kind];
}

function before(a: TapeRecord, b: TapeRecord): boolean {
  if (a.timeUs !== b.timeUs) return a.timeUs < b.timeUs;
  const kinds = PRIORITY[a.kind] - PRIORITY[b.kind];
  if (kinds !== 0) return kinds < 0;
  const ids = idOf(a) - idOf(b);
  return ids === 0 ? a.line < b.line : ids < 0;
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
