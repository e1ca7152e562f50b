/**
 * The last prices at which a book has changed, for readers that publish differences. It is not
 * state: recording begins with the first reader, and costs a book without one a comparison.
 */

/** Prices that are kept, a power of two. */
const KEPT = 1 << 12;

/** A place in the record of one book. */
export interface BookMark {
  readonly of: ChangedPrices;
  readonly count: number;
}

export class ChangedPrices {
  /** Side × price: bids are positive. */
  private readonly ring = new Int32Array(KEPT);
  private count = 0;

  note(side: 1 | -1, price: number): void {
    this.ring[this.count & (KEPT - 1)] = side * price;
    this.count += 1;
  }

  mark(): BookMark {
    return { of: this, count: this.count };
  }

  /** Side × price of each change since a mark, each once; null if some are no longer kept. */
  since({ count }: BookMark): ReadonlySet<number> | null {
    if (this.count - count > KEPT) return null;
    const prices = new Set<number>();
    for (let i = count; i < this.count; i++) prices.add(this.ring[i & (KEPT - 1)]!);
    return prices;
  }
}
