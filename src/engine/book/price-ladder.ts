/**
 * One side of a book: its occupied price levels, best first.
 *
 * Layout. Levels are numbered rows of typed arrays; a level exists while something rests on it.
 * Prices map to keys that ascend from best to worst (ask: price, bid: −price). A direct-address
 * table finds keys inside a window, and a four-level 32-way bitmap finds the next occupied one
 * (about 15 ns at any distance). The window starts small and widens up to 2^20 ticks as levels open
 * beyond it. Keys beyond that distance from the best are in a short sorted list. The window moves
 * when the best price leaves it or it becomes empty: O(levels), and rare, since a wide window spans
 * far more than a price band.
 *
 * Invariant: every occupied key is in either the window or the list. The window's position is not
 * state: no result depends on it.
 *
 * Only files of this folder may assert (`!`) that a typed-array index is in range.
 */
import type { PriceTicks } from '../../num/units.ts';

/** Min and max window width in ticks: 4 KiB, and 4 MiB of which untouched pages cost nothing. */
const NARROWEST = 1 << 10;
const WIDEST = 1 << 20;
/** Min growth factor of the window: a drifting book rebuilds it only a few times. */
const WIDENING = 4;
export const NO_LEVEL = -1;

export class PriceLadder {
  /** 1 for asks (key = price), −1 for bids (key = −price). */
  private readonly sign: 1 | -1;
  private base = 0;
  private inWindow = 0;
  private width = NARROWEST;
  /** Level + 1 by key − base. */
  private byKey = new Int32Array(NARROWEST);
  private floor0 = new Int32Array(NARROWEST >>> 5);
  private floor1 = new Int32Array(1);
  private floor2 = new Int32Array(1);
  private floor3 = 0;
  /** Levels outside the window, sorted by key. */
  private outside: number[] = [];
  private best = NO_LEVEL;

  private capacity = 64;
  private used = 0;
  private free = NO_LEVEL;
  private count = 0;
  private keys = new Int32Array(64);
  private heads = new Int32Array(64);
  private tails = new Int32Array(64);
  private totals = new Float64Array(64);
  private houseTotals = new Float64Array(64);
  private counts = new Int32Array(64);

  constructor(side: 'bid' | 'ask') {
    this.sign = side === 'ask' ? 1 : -1;
  }

  get levelCount(): number {
    return this.count;
  }

  bestLevel(): number {
    return this.best;
  }

  /** The occupied level with exactly this price. */
  find(price: PriceTicks): number {
    const key = this.sign * price;
    const at = key - this.base;
    if (at >= 0 && at < this.width) return this.byKey[at]! - 1;
    const place = this.outsidePlace(key);
    const level = this.outside[place];
    return level !== undefined && this.keys[level] === key ? level : NO_LEVEL;
  }

  /** The next worse occupied level. */
  nextLevel(level: number): number {
    return this.after(this.keys[level]!);
  }

  /**
   * The best occupied level that is worse than this price, whether or not that price is occupied.
   */
  firstWorseThan(price: PriceTicks): number {
    return this.after(this.sign * price);
  }

  private after(key: number): number {
    const at = key + 1 - this.base;
    const inside = at < this.width ? this.lowestFrom(at < 0 ? 0 : at) : -1;
    if (this.outside.length === 0) return inside < 0 ? NO_LEVEL : this.byKey[inside]! - 1;
    const outer = this.outside[this.outsidePlace(key + 1)] ?? NO_LEVEL;
    if (inside < 0) return outer;
    const inner = this.byKey[inside]! - 1;
    return outer !== NO_LEVEL && this.keys[outer]! < this.keys[inner]! ? outer : inner;
  }

  /** Opens an empty level at a price that has none. */
  insert(price: PriceTicks): number {
    const key = this.sign * price;
    const level = this.take();
    this.keys[level] = key;
    this.heads[level] = -1;
    this.tails[level] = -1;
    this.totals[level] = 0;
    this.houseTotals[level] = 0;
    this.counts[level] = 0;
    if (this.count === 1) this.base = key - (this.width >>> 1);
    if (this.best === NO_LEVEL || key < this.keys[this.best]!) this.best = level;
    const at = key - this.base;
    if (at >= 0 && at < this.width) this.mark(at, level);
    else this.insertOutside(key, level);
    return level;
  }

  /** Moves the only level of the ladder to another price, with its queue. */
  moveOnly(level: number, price: PriceTicks): void {
    const key = this.sign * price;
    const at = this.keys[level]! - this.base;
    this.keys[level] = key;
    const middle = this.width >>> 1;
    if (at !== middle) {
      if (at >= 0 && at < this.width) this.unmark(at);
      else this.outside.length = 0;
      this.mark(middle, level);
    }
    this.base = key - middle;
  }

  /** Closes an empty level. */
  remove(level: number): void {
    const key = this.keys[level]!;
    const at = key - this.base;
    if (at >= 0 && at < this.width) this.unmark(at);
    else this.outside.splice(this.outsidePlace(key), 1);
    this.count -= 1;
    if (this.best === level) {
      this.best = this.count === 0 ? NO_LEVEL : this.after(key);
      if (this.inWindow === 0 && this.count > 0) this.recentre(this.width);
    }
    this.tails[level] = this.free;
    this.free = level;
  }

  price(level: number): PriceTicks {
    return (this.sign * this.keys[level]!) as PriceTicks;
  }
  head(level: number): number {
    return this.heads[level]!;
  }
  tail(level: number): number {
    return this.tails[level]!;
  }
  /** Lots resting on the level, users' and house. */
  total(level: number): number {
    return this.totals[level]!;
  }
  /** Lots of house segments on the level. */
  houseTotal(level: number): number {
    return this.houseTotals[level]!;
  }
  /** Orders and segments in the queue. */
  queueLength(level: number): number {
    return this.counts[level]!;
  }
  setHead(level: number, slot: number): void {
    this.heads[level] = slot;
  }
  setTail(level: number, slot: number): void {
    this.tails[level] = slot;
  }
  addTotal(level: number, by: number): void {
    this.totals[level] = this.totals[level]! + by;
  }
  addHouseTotal(level: number, by: number): void {
    this.houseTotals[level] = this.houseTotals[level]! + by;
  }
  addCount(level: number, by: number): void {
    this.counts[level] = this.counts[level]! + by;
  }

  private take(): number {
    this.count += 1;
    const level = this.free;
    if (level !== NO_LEVEL) {
      this.free = this.tails[level]!;
      return level;
    }
    if (this.used === this.capacity) this.grow();
    return this.used++;
  }

  private mark(at: number, level: number): void {
    this.byKey[at] = level + 1;
    this.inWindow += 1;
    this.floor0[at >>> 5]! |= 1 << (at & 31);
    this.floor1[at >>> 10]! |= 1 << ((at >>> 5) & 31);
    this.floor2[at >>> 15]! |= 1 << ((at >>> 10) & 31);
    this.floor3 |= 1 << (at >>> 15);
  }

  private unmark(at: number): void {
    this.byKey[at] = 0;
    this.inWindow -= 1;
    if ((this.floor0[at >>> 5]! &= ~(1 << (at & 31))) !== 0) return;
    if ((this.floor1[at >>> 10]! &= ~(1 << ((at >>> 5) & 31))) !== 0) return;
    if ((this.floor2[at >>> 15]! &= ~(1 << ((at >>> 10) & 31))) !== 0) return;
    this.floor3 &= ~(1 << (at >>> 15));
  }

  /** Lowest occupied index ≥ at, or −1. */
  private lowestFrom(at: number): number {
    let i = at >>> 5;
    let word = this.floor0[i]! & (-1 << (at & 31));
    if (word !== 0) return (i << 5) | lowestBit(word);
    word = (i & 31) === 31 ? 0 : this.floor1[i >>> 5]! & (-2 << (i & 31));
    i >>>= 5;
    if (word === 0) {
      word = (i & 31) === 31 ? 0 : this.floor2[i >>> 5]! & (-2 << (i & 31));
      i >>>= 5;
      if (word === 0) {
        word = i === 31 ? 0 : this.floor3 & (-2 << i);
        if (word === 0) return -1;
        i = lowestBit(word);
        word = this.floor2[i]!;
      }
      i = (i << 5) | lowestBit(word);
      word = this.floor1[i]!;
    }
    i = (i << 5) | lowestBit(word);
    return (i << 5) | lowestBit(this.floor0[i]!);
  }

  /** First index in `outside` whose key is ≥ key. */
  private outsidePlace(key: number): number {
    let low = 0;
    let high = this.outside.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[this.outside[middle]!]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The window widens for a level near the best, and moves for a new best. */
  private insertOutside(key: number, level: number): void {
    this.outside.splice(this.outsidePlace(key), 0, level);
    const isNear = key - this.keys[this.best]! < WIDEST >>> 1;
    if (isNear && this.width < WIDEST) this.recentre(this.width * WIDENING);
    else if (level === this.best) this.recentre(this.width);
  }

  /** Centres the best price in a window that holds every level within the widest window. */
  private recentre(minWidth: number): void {
    const levels = this.sortedLevels();
    const best = this.keys[this.best]!;
    let width = minWidth;
    for (const level of levels) {
      const distance = this.keys[level]! - best;
      if (distance >= WIDEST >>> 1) break;
      while (distance >= width >>> 1) width *= WIDENING;
    }
    this.openWindow(best - (width >>> 1), width);
    this.outside = [];
    for (const level of levels) {
      const at = this.keys[level]! - this.base;
      if (at < width) this.mark(at, level);
      else this.outside.push(level);
    }
  }

  private sortedLevels(): number[] {
    const levels = [...this.outside];
    for (let at = this.lowestFrom(0); at >= 0; at = this.lowestFrom(at)) {
      levels.push(this.byKey[at]! - 1);
      this.unmark(at);
    }
    return levels.sort((a, b) => this.keys[a]! - this.keys[b]!);
  }

  /** Replaces an empty window by another empty one. */
  private openWindow(base: number, width: number): void {
    this.base = base;
    if (width === this.width) return;
    this.width = width;
    this.byKey = new Int32Array(width);
    this.floor0 = new Int32Array(width >>> 5);
    this.floor1 = new Int32Array(Math.max(1, width >>> 10));
    this.floor2 = new Int32Array(Math.max(1, width >>> 15));
  }

  private grow(): void {
    this.capacity *= 2;
    const capacity = this.capacity;
    const int = (old: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> => {
      const larger = new Int32Array(capacity);
      larger.set(old);
      return larger;
    };
    const float = (old: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> => {
      const larger = new Float64Array(capacity);
      larger.set(old);
      return larger;
    };
    this.keys = int(this.keys);
    this.heads = int(this.heads);
    this.tails = int(this.tails);
    this.counts = int(this.counts);
    this.totals = float(this.totals);
    this.houseTotals = float(this.houseTotals);
  }
}

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}
