/**
 * Pending triggers of one market, by their trigger price (§4). A source that fires none reads the
 * tops of two heaps, so the cost of a mark update is independent of the number of triggers.
 *
 * Keys are order ids. A stale entry stays in its heap until it reaches the top, or until stale
 * entries are the majority.
 */
import { TimerHeap } from '../../base/timer-heap.ts';
import { orderId, type OrderId } from '../../num/units.ts';
import type { Reached, Waits } from './reached.ts';
import { TrailingIndex } from './trailing-index.ts';

const SMALL = 1024;

/** Orders that fire at or above a price, and orders that fire at or below one. */
export class PriceTriggers {
  private readonly above = new TimerHeap();
  /** By minus price. */
  private readonly below = new TimerHeap();
  private waiting = 0;

  add(when: 'above' | 'below', price: number, id: OrderId): void {
    this.waiting += 1;
    if (when === 'above') this.above.push(price, id);
    else this.below.push(-price, id);
  }

  /** Records that one of the orders is no longer pending. */
  forget(waits: Waits): void {
    this.waiting -= 1;
    for (const heap of [this.above, this.below]) {
      if (heap.size > SMALL && heap.size > 4 * this.waiting) {
        heap.compact((key) => waits(orderId(key)));
      }
    }
  }

  /** Whether an order may fire at a price from `low` to `high`; may be a false positive. */
  mayWaitWithin(low: number, high: number): boolean {
    if (this.waiting === 0) return false;
    return this.above.topTime() <= high || this.below.topTime() <= -low;
  }

  /** The nearest fire price beyond `from`, upward (1) or downward (−1); null if none. */
  next(up: 1 | -1, from: number, waits: Waits): number | null {
    const heap = up > 0 ? this.above : this.below;
    while (heap.size > 0 && !waits(orderId(heap.topKey()))) heap.pop();
    const top = heap.topTime();
    // An order that was rearmed behind the price hides the others: then all are scanned.
    const live = (key: number): boolean => waits(orderId(key));
    const next = top > up * from ? top : heap.nextAfter(up * from, live);
    return next === Infinity ? null : up * next;
  }

  /** Orders that fire on the way up (1) or down (−1) at a price from `low` to `high`. */
  between(up: 1 | -1, low: number, high: number, waits: Waits): OrderId[] {
    const keys = up > 0 ? this.above.keysBetween(low, high) : this.below.keysBetween(-high, -low);
    return keys.map(orderId).filter(waits);
  }

  /** Removes every order whose price is reached or passed, in no particular order. */
  take(price: number, waits: Waits, into: Reached[]): void {
    this.drain(this.above, 1, price, waits, into);
    this.drain(this.below, -1, price, waits, into);
  }

  private drain(heap: TimerHeap, sign: number, price: number, waits: Waits, into: Reached[]): void {
    while (heap.topTime() <= sign * price) {
      const id = orderId(heap.topKey());
      const ticks = sign * heap.topTime();
      heap.pop();
      if (!waits(id)) continue;
      this.waiting -= 1;
      into.push({ id, ticks });
    }
  }
}

export class TriggerIndex {
  /** Take-profits and stop-losses, by trigger price. */
  readonly prices = new PriceTriggers();
  /** Trailing stops that are not active yet, by the price that activates them. */
  readonly activations = new PriceTriggers();
  /** Active trailing stops: selling ones follow the highest mark, buying ones the lowest. */
  readonly selling = new TrailingIndex(1);
  readonly buying = new TrailingIndex(-1);
}
