/**
 * Trailing stops of one market and side, by the extreme that they follow. A selling stop
 * follows the highest mark since its activation, a buying one the lowest. `up` is 1 for selling and
 * −1 for buying; extremes are compared as up × price, so one implementation serves both.
 *
 * Stops that follow the same extreme form a group. An earlier stop has seen every mark that a later
 * one has, so groups form a stack with greater extremes at the bottom. A new extreme merges the
 * groups that it passes, which are on top: small into large. Within a group the closest stop fires
 * first, so a group has one next fire price; a heap of these prices detects firing. A mark that
 * fires none and sets no new extreme costs O(1). Merging costs O(log² n) amortised.
 */
import type { Archive } from '../../base/archive.ts';
import { must } from '../../base/assert.ts';
import { TimerHeap } from '../../base/timer-heap.ts';
import { orderId, PPM, type OrderId } from '../../num/units.ts';
import type { Reached, Waits } from './reached.ts';

const SMALL = 1024;

interface Group {
  /** Id of the group in the heap of fire prices. */
  readonly number: number;
  extreme: number;
  /** Its entry in the heap of fire prices; 0 for none. */
  announced: number;
  /** By distance in 1e-6, then order id. */
  readonly stops: TimerHeap;
}

export class TrailingIndex {
  private readonly up: 1 | -1;
  /** Bottom: greatest extreme. */
  private stack: Group[] = [];
  private readonly byNumber = new Map<number, Group>();
  /**
   * −up × fire price of a group, and its number; entries of merged or changed groups are skipped.
   */
  private fires = new TimerHeap();
  private nextNumber = 0;
  /** Stops in the heaps, and the pending ones among them. */
  private entries = 0;
  private waiting = 0;

  constructor(up: 1 | -1) {
    this.up = up;
  }

  /** Adds a stop that becomes active at this mark, its first extreme. */
  add(id: OrderId, distancePpm: number, mark: number): void {
    this.reach(mark);
    let group = this.stack.at(-1);
    if (group?.extreme !== mark) {
      group = { number: this.nextNumber++, extreme: mark, announced: 0, stops: new TimerHeap() };
      this.stack.push(group);
      this.byNumber.set(group.number, group);
    }
    group.stops.push(distancePpm, id);
    this.entries += 1;
    this.waiting += 1;
    this.announce(group);
  }

  /** Records that one stop ended; stale entries are dropped at the top, or when too many. */
  forget(waits: Waits): void {
    this.waiting -= 1;
    if (this.entries <= SMALL || this.entries <= 4 * this.waiting) return;
    this.entries = 0;
    for (const group of this.stack) {
      group.stops.compact((key) => waits(orderId(key)));
      this.entries += group.stops.size;
      if (group.stops.size === 0) this.byNumber.delete(group.number);
    }
    this.stack = this.stack.filter((group) => group.stops.size > 0);
    this.fires = new TimerHeap();
    for (const group of this.stack) {
      group.announced = 0;
      this.announce(group);
    }
  }

  /** Updates extremes to the mark, merging the groups that it passes. */
  reach(mark: number): void {
    let joined: Group | null = null;
    while (this.isTopPassed(mark)) {
      const group = must(this.stack.pop(), 'a passed group exists');
      joined = joined === null ? group : this.join(joined, group);
    }
    const same = this.stack.at(-1);
    if (joined === null) return;
    joined.extreme = mark;
    if (same?.extreme === mark) {
      this.stack.pop();
      joined = this.join(joined, same);
      joined.extreme = mark;
    }
    this.stack.push(joined);
    this.announce(joined);
  }

  private isTopPassed(mark: number): boolean {
    const top = this.stack[this.stack.length - 1];
    return top !== undefined && this.up * top.extreme < this.up * mark;
  }

  private join(a: Group, b: Group): Group {
    const [larger, smaller] = a.stops.size >= b.stops.size ? [a, b] : [b, a];
    while (smaller.stops.size > 0) {
      larger.stops.push(smaller.stops.topTime(), smaller.stops.topKey());
      smaller.stops.pop();
    }
    this.byNumber.delete(smaller.number);
    return larger;
  }

  /** Pushes the fire price of the group's closest stop, unless it is unchanged. */
  private announce(group: Group): void {
    if (group.stops.size === 0) return;
    const price = this.firePrice(group);
    if (price === group.announced) return;
    group.announced = price;
    this.fires.push(-this.up * price, group.number);
    if (this.fires.size <= SMALL || this.fires.size <= 4 * this.stack.length) return;
    this.fires = new TimerHeap();
    for (const other of this.stack) this.fires.push(-this.up * other.announced, other.number);
  }

  private firePrice(group: Group): number {
    return trailingTicks(this.up, group.extreme, group.stops.topTime());
  }

  get isEmpty(): boolean {
    return this.waiting === 0;
  }

  /** The mark at which the next stop fires if no new extreme comes first; null if none. */
  next(waits: Waits): number | null {
    while (this.fires.size > 0) {
      const price = -this.up * this.fires.topTime();
      // A known group has a stop.
      const group = this.byNumber.get(this.fires.topKey());
      const announced = group?.announced === price;
      if (announced && waits(orderId(group.stops.topKey()))) return price;
      this.fires.pop();
      if (!announced) continue;
      group.stops.pop();
      this.entries -= 1;
      group.announced = 0;
      this.announce(group);
      this.dropIfEmpty(group);
    }
    return null;
  }

  /** Whether a stop fires at a mark from `low` to `high`, if no new extreme comes first. */
  firesWithin(
    low: number,
    high: number,
    waits: Waits,
    distanceOf: (id: OrderId) => number,
  ): boolean {
    const within = (price: number): boolean => price >= low && price <= high;
    const first = this.next(waits);
    if (first === null || within(first)) return first !== null;
    if (this.up > 0 ? first < low : first > high) return false;
    return this.stack.some(({ extreme, stops }) =>
      stops
        .allKeys()
        .map(orderId)
        .some((id) => waits(id) && within(trailingTicks(this.up, extreme, distanceOf(id)))),
    );
  }

  private dropIfEmpty(group: Group): void {
    if (group.stops.size > 0) return;
    this.byNumber.delete(group.number);
    this.stack = this.stack.filter((other) => other !== group);
  }

  /** Removes every stop that fires at this mark; `reach` must precede. */
  take(mark: number, waits: Waits, into: Reached[]): void {
    while (this.fires.topTime() <= -this.up * mark) {
      const price = -this.up * this.fires.topTime();
      const group = this.byNumber.get(this.fires.topKey());
      this.fires.pop();
      if (group?.announced !== price) continue;
      group.announced = 0;
      while (group.stops.size > 0 && -this.up * this.firePrice(group) <= -this.up * mark) {
        const id = orderId(group.stops.topKey());
        const ticks = this.firePrice(group);
        group.stops.pop();
        this.entries -= 1;
        if (!waits(id)) continue;
        this.waiting -= 1;
        into.push({ id, ticks });
      }
      this.announce(group);
      this.dropIfEmpty(group);
    }
  }

  /** Canonical: groups from the bottom, the pending stops of each in ascending id. */
  archive(io: Archive, waits: Waits, distanceOf: (id: OrderId) => number): void {
    const kept = this.stack
      .map(({ extreme, stops }) => ({
        extreme,
        ids: stops
          .allKeys()
          .map(orderId)
          .filter(waits)
          .sort((a, b) => a - b),
      }))
      .filter(({ ids }) => ids.length > 0);
    const groups = io.int(kept.length);
    for (let i = 0; i < groups; i++) {
      const extreme = io.int(kept[i]?.extreme ?? 0);
      const count = io.int(kept[i]?.ids.length ?? 0);
      for (let j = 0; j < count; j++) {
        const id = orderId(io.int(kept[i]?.ids[j] ?? 0));
        if (io.loading) this.add(id, distanceOf(id), extreme);
      }
    }
  }
}

/**
 * The fire mark: extreme × (1 ∓ p) for selling/buying, in ticks on the far side of the exact price.
 */
export function trailingTicks(up: 1 | -1, extreme: number, distancePpm: number): number {
  const scaled = extreme * (PPM - up * distancePpm);
  return up > 0 ? Math.floor(scaled / PPM) : Math.ceil(scaled / PPM);
}
