/**
 * The resting orders of one market: two price ladders over the exchange's order table. Each level
 * is a FIFO queue of users' orders and house segments (R-2.5). Matching: orders/match.ts.
 *
 * Invariant: best bid < best ask after every command. A level has its queue's total size.
 */
import { lots, priceTicks, type Lots, type PriceTicks } from '../../num/units.ts';
import type { LevelView } from '../read/views.ts';
import { ChangedPrices } from './changed-prices.ts';
import { NONE, type OrderTable } from './order-table.ts';
import { NO_LEVEL, PriceLadder } from './price-ladder.ts';

export class OrderBook {
  readonly bids = new PriceLadder('bid');
  readonly asks = new PriceLadder('ask');
  /** Change counter: an order or house volume that joined, left or changed size. Derived. */
  changes = 0;
  /** Null without a reader of differences. */
  private recent: ChangedPrices | null = null;
  private readonly table: OrderTable;

  constructor(table: OrderTable) {
    this.table = table;
  }

  ladder(side: 1 | -1): PriceLadder {
    return side > 0 ? this.bids : this.asks;
  }

  /** Best price of a side, or 0 when it is empty; prices are positive. */
  bestPrice(side: 1 | -1): PriceTicks {
    const ladder = side > 0 ? this.bids : this.asks;
    const level = ladder.bestLevel();
    return (level === NO_LEVEL ? 0 : ladder.price(level)) as PriceTicks;
  }

  best(side: 1 | -1): LevelView | null {
    const ladder = this.ladder(side);
    const level = ladder.bestLevel();
    if (level === NO_LEVEL) return null;
    return { priceTicks: ladder.price(level), lots: lots(ladder.total(level)) };
  }

  /**
   * Appends the slot to the queue of its price. Returns false without a change for an order with
   * which the lots of the level would not be a safe integer.
   */
  append(slot: number): boolean {
    const table = this.table;
    const ladder = this.ladder(table.side(slot));
    const price = table.price(slot);
    let level = ladder.find(price);
    if (level === NO_LEVEL) level = ladder.insert(price);
    else if (ladder.total(level) + table.left(slot) > Number.MAX_SAFE_INTEGER) {
      if (!table.isHouse(slot)) return false;
    }
    this.noteChange(table.side(slot), price);
    const tail = ladder.tail(level);
    table.setPrev(slot, tail);
    table.setNext(slot, NONE);
    if (tail === NONE) ladder.setHead(level, slot);
    else table.setNext(tail, slot);
    ladder.setTail(level, slot);
    ladder.addTotal(level, table.left(slot));
    if (table.isHouse(slot)) ladder.addHouseTotal(level, table.left(slot));
    ladder.addCount(level, 1);
    table.setResting(slot, true);
    return true;
  }

  /** Puts the slot at the front of the queue of its price: house volume from before a gap. */
  prepend(slot: number): void {
    const table = this.table;
    const ladder = this.ladder(table.side(slot));
    const price = table.price(slot);
    const level = ladder.find(price);
    if (level === NO_LEVEL) {
      this.append(slot);
      return;
    }
    this.noteChange(table.side(slot), price);
    const head = ladder.head(level);
    table.setPrev(slot, NONE);
    table.setNext(slot, head);
    table.setPrev(head, slot);
    ladder.setHead(level, slot);
    ladder.addTotal(level, table.left(slot));
    if (table.isHouse(slot)) ladder.addHouseTotal(level, table.left(slot));
    ladder.addCount(level, 1);
    table.setResting(slot, true);
  }

  /** Removes the slot from its queue and closes the level if it becomes empty. */
  unlink(slot: number): void {
    const table = this.table;
    const ladder = this.ladder(table.side(slot));
    const price = table.price(slot);
    this.noteChange(table.side(slot), price);
    const level = ladder.find(price);
    const prev = table.prev(slot);
    const next = table.next(slot);
    if (prev === NONE) ladder.setHead(level, next);
    else table.setNext(prev, next);
    if (next === NONE) ladder.setTail(level, prev);
    else table.setPrev(next, prev);
    table.setResting(slot, false);
    ladder.addCount(level, -1);
    if (prev === NONE && next === NONE) {
      ladder.remove(level);
      return;
    }
    const left = table.left(slot);
    if (left !== 0) {
      ladder.addTotal(level, -left);
      if (table.isHouse(slot)) ladder.addHouseTotal(level, -left);
    }
  }

  /** Subtracts filled or withdrawn size from a resting slot; the caller unlinks it at 0. */
  reduce(slot: number, by: number): void {
    const table = this.table;
    const ladder = this.ladder(table.side(slot));
    const price = table.price(slot);
    if (by !== 0) this.noteChange(table.side(slot), price);
    const level = ladder.find(price);
    table.reduce(slot, by);
    ladder.addTotal(level, -by);
    if (table.isHouse(slot)) ladder.addHouseTotal(level, -by);
  }

  /** Grows the house segment at the end of a queue. */
  growSegment(slot: number, by: number): void {
    const side = this.table.side(slot);
    const price = this.table.price(slot);
    this.noteChange(side, price);
    const ladder = this.ladder(side);
    const level = ladder.find(price);
    this.table.growSegment(slot, by);
    ladder.addTotal(level, by);
    ladder.addHouseTotal(level, by);
  }

  /** The house segment that is the only slot of a side; otherwise `NONE`. */
  onlySegment(side: 1 | -1): number {
    const ladder = this.ladder(side);
    if (ladder.levelCount !== 1) return NONE;
    const level = ladder.bestLevel();
    const slot = ladder.head(level);
    return ladder.queueLength(level) === 1 && this.table.isHouse(slot) ? slot : NONE;
  }

  /** Moves the only segment of a side to another price, with another size. */
  moveOnlySegment(side: 1 | -1, price: PriceTicks, size: number): void {
    const ladder = this.ladder(side);
    const level = ladder.bestLevel();
    this.noteChange(side, ladder.price(level));
    this.noteChange(side, price);
    const by = size - ladder.houseTotal(level);
    this.table.moveSegment(ladder.head(level), price, size);
    ladder.addTotal(level, by);
    ladder.addHouseTotal(level, by);
    if (ladder.price(level) !== price) ladder.moveOnly(level, price);
  }

  /** Best first, at most `limit` levels. */
  depth(side: 1 | -1, limit: number): LevelView[] {
    const ladder = this.ladder(side);
    const levels: LevelView[] = [];
    for (
      let level = ladder.bestLevel();
      level !== NO_LEVEL && levels.length < limit;
      level = ladder.nextLevel(level)
    ) {
      levels.push({ priceTicks: ladder.price(level), lots: lots(ladder.total(level)) });
    }
    return levels;
  }

  /**
   * Levels of `ticks` ticks, best first, at most `limit`. Bids round down, asks up, so none shows a
   * better price.
   */
  grouped(side: 1 | -1, ticks: number, limit: number): LevelView[] {
    const ladder = this.ladder(side);
    const groups: LevelView[] = [];
    let price = 0;
    let size = 0;
    const close = (): void => {
      if (size > 0) groups.push({ priceTicks: priceTicks(price), lots: lots(size) });
      size = 0;
    };
    let level = ladder.bestLevel();
    for (; level !== NO_LEVEL; level = ladder.nextLevel(level)) {
      const place = ladder.price(level) / ticks;
      const group = (side > 0 ? Math.floor(place) : Math.ceil(place)) * ticks;
      if (group !== price) {
        close();
        if (groups.length === limit) break;
        price = group;
      }
      size += ladder.total(level);
    }
    close();
    return groups;
  }

  levelCount(side: 1 | -1): number {
    return this.ladder(side).levelCount;
  }

  /** Lots that rest at a price, 0 without a level. */
  lotsAt(side: 1 | -1, price: PriceTicks): Lots {
    const ladder = this.ladder(side);
    const level = ladder.find(price);
    return lots(level === NO_LEVEL ? 0 : ladder.total(level));
  }

  /** The record of changes, which begins with the first call. */
  followed(): ChangedPrices {
    this.recent ??= new ChangedPrices();
    return this.recent;
  }

  private noteChange(side: 1 | -1, price: PriceTicks): void {
    this.changes += 1;
    if (this.recent !== null) this.recent.note(side, price);
  }
}
