/**
 * Waiting triggers of one market, by the price that fires them (§4). A source that fires none looks at the tops of two heaps and no
 * further, so a mark update costs the same whether ten triggers wait or a hundred thousand.
 *
 * Keys are order ids. An order that ended or stopped waiting stays in its heap until it surfaces, or until such entries
 * outnumber the others.
 */
import { TimerHeap } from '../../base/timer-heap.ts';
import { orderId, type OrderId } from '../../num/units.ts';
import type { Reached, Waits } from './reached.ts';
import { TrailingIndex } from './trailing-index.ts';

const SMALL = 1024;

/** Orders that wait for a price: some for one at or above theirs, some for one at or below. */
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

  /** One of the orders stopped waiting. */
  forget(waits: Waits): void {
    this.waiting -= 1;
    for (const heap of [this.above, this.below]) {
      if (heap.size > SMALL && heap.size > 4 * this.waiting) {
        heap.compact((key) => waits(orderId(key)));
      }
    }
  }

  /** Whether an order may wait for a price from `low` to `high`; true may be said of one that has ended. */
  mayWaitWithin(low: number, high: number): boolean {
    if (this.waiting === 0) return false;
    return this.above.topTime() <= high || this.below.topTime() <= -low;
  }

  /** The nearest price beyond `from` on the way up (1) or down (−1) at which an order fires; null when there is none. */
  next(up: 1 | -1, from: number, waits: Waits): number | null {
    const heap = up > 0 ? this.above : this.below;
    while (heap.size > 0 && !waits(orderId(heap.topKey()))) heap.pop();
    if (heap.size === 0) return null;
    const top = heap.topTime();
    // An order that was put back behind the price hides the others: then all are looked at.
    const live = (key: number): boolean => waits(orderId(key));
    const next = top > up * from ? top : heap.nextAfter(up * from, live);
    return next === Infinity ? null : up * next;
  }

  /** Orders that fire on the way up (1) or down (−1) at a price from `low` to `high`. */
  between(up: 1 | -1, low: number, high: number, waits: Waits): OrderId[] {
    const keys = up > 0 ? this.above.keysBetween(low, high) : this.below.keysBetween(-high, -low);
    return keys.map(orderId).filter(waits);
  }

  /** Takes out every order whose price this is or has passed, in no particular order. */
  take(price: number, waits: Waits, into: Reached[]): void {
    this.drain(this.above, 1, price, waits, into);
    this.drain(this.below, -1, price, waits, into);
  }

  private drain(heap: TimerHeap, sign: number, price: number, waits: Waits, into: Reached[]): void {
    while (heap.size > 0 && heap.topTime() <= sign * price) {
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
  /** Active trailing stops: those that sell follow the highest mark, those that buy the lowest. */
  readonly selling = new TrailingIndex(1);
  readonly buying = new TrailingIndex(-1);
}
