/**
 * Bounds on how far a market's mark may move before one of its positions can be liquidatable
 * . A mark move that liquidates no account visits no account.
 *
 * When an owner is tested (`liquidation/endangered`), equity − maintenance is split evenly over its
 * k fresh positions, less one Quantum each. A long is safe down to `mark − share ÷ (lots × unit)`,
 * a short up to `mark + share ÷ (lots × unit × (1 + m))`, m the highest maintenance rate.
 *
 * Proof: let every mark be on the safe side of its bound. A long that loses d ticks loses d × lots
 * × unit of equity, at most its share, and its maintenance does not rise. A short that loses d
 * ticks loses d × lots × unit of equity; its maintenance rises by at most m times that plus one
 * Quantum of rounding, in sum at most its share. A gaining position gains at least the rise of its
 * maintenance, since rates are at most 1, less one Quantum. So equity − maintenance falls by at
 * most the sum of the shares. Any other change of equity or size marks the owner for a risk check
 * (`ExchangeState.markForRiskCheck`) at the next mark.
 *
 * A position in a frozen market has no bound. Its mark cannot move, so its contribution to equity −
 * maintenance is constant while it is frozen and its size stays. k counts only fresh positions, for
 * which the argument above holds. Freezing and thawing mark all holders for a risk check.
 *
 * Two heaps of positions by bound; each position stores its heap index, so a move costs O(log n). A
 * mark costs O(1), plus O(log n) per owner whose bound it passes.
 */
import type { Exposure } from '../accounts/subaccount.ts';

export class LiquidationIndex {
  /** Longs by −bound and shorts by bound: the position in danger first is on top. */
  private readonly longs = new SafeHeap(-1);
  private readonly shorts = new SafeHeap(1);
  /** Inserts or moves the position, safe up to this mark, inclusive. */
  put(exposure: Exposure, safeTicks: number): void {
    const side = exposure.positionLots > 0 ? -1 : 1;
    if (exposure.safeSide !== side) this.remove(exposure);
    exposure.safeSide = side;
    this.heap(side).put(exposure, safeTicks);
  }

  remove(exposure: Exposure): void {
    if (exposure.safeSide === 0) return;
    this.heap(exposure.safeSide).remove(exposure);
    exposure.safeSide = 0;
  }

  /** Range of marks, both inclusive, in which no position with a bound is in danger. */
  get safeFrom(): number {
    return this.longs.top()?.safeTicks ?? -Infinity;
  }
  get safeTo(): number {
    return this.shorts.top()?.safeTicks ?? Infinity;
  }

  /** Removes and returns a position whose bound this mark has passed, or undefined. */
  takeEndangered(mark: number): Exposure | undefined {
    const long = this.longs.top();
    const short = this.shorts.top();
    let endangered: Exposure | undefined;
    if (long !== undefined && mark < long.safeTicks) endangered = long;
    else if (short !== undefined && mark > short.safeTicks) endangered = short;
    if (endangered !== undefined) this.remove(endangered);
    return endangered;
  }

  private heap(side: 1 | -1): SafeHeap {
    return side < 0 ? this.longs : this.shorts;
  }
}

/** A binary heap of positions; the lowest `sign × safeTicks` is on top. */
class SafeHeap {
  private readonly sign: 1 | -1;
  private readonly items: Exposure[] = [];

  constructor(sign: 1 | -1) {
    this.sign = sign;
  }

  top(): Exposure | undefined {
    return this.items[0];
  }

  put(exposure: Exposure, safeTicks: number): void {
    exposure.safeTicks = safeTicks;
    if (exposure.safePlace < 0) {
      exposure.safePlace = this.items.length;
      this.items.push(exposure);
    }
    this.settle(exposure);
  }

  remove(exposure: Exposure): void {
    const place = exposure.safePlace;
    exposure.safePlace = -1;
    const last = this.items.pop();
    if (last === undefined || last === exposure) return;
    this.items[place] = last;
    last.safePlace = place;
    this.settle(last);
  }

  private settle(exposure: Exposure): void {
    const key = this.sign * exposure.safeTicks;
    let place = exposure.safePlace;
    while (place > 0) {
      const parent = this.items[(place - 1) >> 1];
      if (parent === undefined || this.sign * parent.safeTicks <= key) break;
      this.items[place] = parent;
      parent.safePlace = place;
      place = (place - 1) >> 1;
    }
    for (;;) {
      let at = 2 * place + 1;
      let child = this.items[at];
      if (child === undefined) break;
      const right = this.items[at + 1];
      if (right !== undefined && this.sign * right.safeTicks < this.sign * child.safeTicks) {
        child = right;
        at += 1;
      }
      if (this.sign * child.safeTicks >= key) break;
      this.items[place] = child;
      child.safePlace = place;
      place = at;
    }
    this.items[place] = exposure;
    exposure.safePlace = place;
  }
}
