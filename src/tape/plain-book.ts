/**
 * The recorded book without the exchange: sizes by price, to detect that the recording itself
 * crosses.
 */
import type { Command, TapeL3, TapeLevel } from '../engine/commands.ts';

export class PlainBook {
  private readonly bids = new PlainSide((a, b) => a > b);
  private readonly asks = new PlainSide((a, b) => a < b);
  /** Remaining sizes of single orders. */
  private readonly orders = new Map<number, number>();

  /** Whether this command adds to the book and leaves it crossed: best bid at or above best ask. */
  crossedAfter(command: Command): boolean {
    switch (command.kind) {
      case 'tapeSnapshot':
        this.clear();
        return this.take(command.levels);
      case 'tapeDepth':
        return this.take(command.levels);
      case 'tapeL3':
        return this.order(command);
      case 'tapeGap':
        this.clear();
        return false;
      default:
        return false;
    }
  }

  private take(levels: readonly TapeLevel[]): boolean {
    let added = false;
    for (const { side, priceTicks, lots } of levels) {
      this.of(side).set(priceTicks, lots);
      added ||= lots > 0;
    }
    return added && this.crosses();
  }

  private order({ action, ref, side, priceTicks: price, lots }: TapeL3): boolean {
    const level = this.of(side);
    const standing = level.size(price);
    if (action === 'add') {
      this.orders.set(ref, lots);
      level.set(price, standing + lots);
      return this.crosses();
    }
    const left = this.orders.get(ref);
    const gone = left === undefined ? lots : action === 'remove' ? left : Math.min(lots, left);
    if (left !== undefined && gone < left) this.orders.set(ref, left - gone);
    else this.orders.delete(ref);
    level.set(price, Math.max(0, standing - gone));
    return false;
  }

  private crosses(): boolean {
    const [bid, ask] = [this.bids.best(), this.asks.best()];
    return bid !== null && ask !== null && bid >= ask;
  }

  private of(side: TapeLevel['side']): PlainSide {
    return side === 'bid' ? this.bids : this.asks;
  }

  private clear(): void {
    this.bids.clear();
    this.asks.clear();
    this.orders.clear();
  }
}

class PlainSide {
  private readonly sizes = new Map<number, number>();
  private readonly isBetter: (a: number, b: number) => boolean;
  /** Cached best price; null if the side is empty or the cache is invalid. */
  private top: number | null = null;

  constructor(isBetter: (a: number, b: number) => boolean) {
    this.isBetter = isBetter;
  }

  size(price: number): number {
    return this.sizes.get(price) ?? 0;
  }

  set(price: number, size: number): void {
    if (size > 0) {
      const top = this.best();
      this.sizes.set(price, size);
      if (top === null || this.isBetter(price, top)) this.top = price;
    } else if (this.sizes.delete(price) && price === this.top) this.top = null;
  }

  best(): number | null {
    if (this.top !== null) return this.top;
    for (const price of this.sizes.keys()) {
      if (this.top === null || this.isBetter(price, this.top)) this.top = price;
    }
    return this.top;
  }

  clear(): void {
    this.sizes.clear();
    this.top = null;
  }
}
