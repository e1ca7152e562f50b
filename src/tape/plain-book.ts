/**
 * The recorded book without the exchange: sizes by price. Trades do not change it, only the venue's
 * own updates; so it can be compared with the venue's best prices after each update.
 */
import type { Command, TapeL3, TapeLevel } from '../engine/commands.ts';

/** Best prices and their sizes; price and size are 0 on an empty side. */
export interface Best {
  readonly bid: number;
  readonly bidLots: number;
  readonly ask: number;
  readonly askLots: number;
}

export class PlainBook {
  private readonly bids = new PlainSide(1);
  private readonly asks = new PlainSide(-1);
  /** Remaining sizes of single orders. */
  private readonly orders = new Map<number, number>();

  /** Whether this command adds to the book and leaves it crossed: best bid at or above best ask. */
  crossedAfter(command: Command): boolean {
    switch (command.kind) {
      case 'tapeSnapshot':
      case 'tapeQuotes':
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

  best(): Best {
    const [bid, ask] = [this.bids.best(), this.asks.best()];
    return { bid, bidLots: this.bids.size(bid), ask, askLots: this.asks.size(ask) };
  }

  private crosses(): boolean {
    const { bid, ask } = this.best();
    return bid > 0 && ask > 0 && bid >= ask;
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
  /** Prices times `sign`, ascending: the best is last, where most changes are. */
  private readonly sorted: number[] = [];
  private readonly sign: 1 | -1;

  constructor(sign: 1 | -1) {
    this.sign = sign;
  }

  size(price: number): number {
    return this.sizes.get(price) ?? 0;
  }

  set(price: number, size: number): void {
    const isListed = this.sizes.has(price);
    if (size > 0) {
      this.sizes.set(price, size);
      if (!isListed) this.sorted.splice(this.placeOf(price), 0, price * this.sign);
    } else if (isListed) {
      this.sizes.delete(price);
      this.sorted.splice(this.placeOf(price), 1);
    }
  }

  /** 0 if the side is empty. */
  best(): number {
    return Math.abs(this.sorted.at(-1) ?? 0);
  }

  clear(): void {
    this.sizes.clear();
    this.sorted.length = 0;
  }

  /** Index of the first entry at or above the price. */
  private placeOf(price: number): number {
    const { sorted } = this;
    const key = price * this.sign;
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((sorted[middle] ?? 0) < key) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
