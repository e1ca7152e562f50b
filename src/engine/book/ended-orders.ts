/**
 * Retained ended orders: copies of rows in pages, so growing copies no rows. No rule reads them.
 *
 * A slot is a page and a row of it. Each account has its own list, oldest first. Lists are links in
 * the rows: owner links chain the ended orders of an account, and queue links chain rows that are
 * not in the index.
 */
import { SlotIndex, hashNumber } from '../../base/slot-index.ts';
import type { OrderId } from '../../num/units.ts';
import { NONE, OrderRows, type OwnerList } from './order-rows.ts';
import { RowTags, type RowFilter } from './row-tags.ts';

const PAGE_BITS = 10;
const PAGE_ROWS = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_ROWS - 1;
const CLIENT_ID_BYTES = 1 << 13;
/** `prev` of a row outside the list of unindexed rows; that list is only walked forward. */
const UNLISTED = 0;
const LISTED = 1;

export class EndedOrders {
  private readonly pages: OrderRows[] = [];
  private readonly tags: RowTags[] = [];
  private used = 0;
  private readonly index = new SlotIndex();
  /** The first row that is not in the index. */
  private unindexed = NONE;

  /** Rows in use. */
  get rows(): number {
    return this.used;
  }

  /** The page of a slot; its row there is `rowOf(slot)`. */
  page(slot: number): OrderRows {
    return this.pages[slot >> PAGE_BITS]!;
  }

  rowOf(slot: number): number {
    return slot & PAGE_MASK;
  }

  slotOf(id: OrderId): number {
    if (this.unindexed !== NONE) this.catchUp();
    return this.index.find(hashNumber(id), (slot) => this.page(slot).id(slot & PAGE_MASK) === id);
  }

  /**
   * Appends a copy of an ended order to its account's list, in the row of the oldest one if the
   * list has `limit` orders. Returns whether the oldest one was dropped.
   */
  add(list: OwnerList, from: OrderRows, source: number, limit = Infinity): boolean {
    const drops = list.count >= limit;
    const slot = drops ? this.takeOldest(list) : this.take();
    const page = this.page(slot);
    const row = slot & PAGE_MASK;
    page.fillEnded(row, from, source);
    const { tail } = list;
    page.setNextOfOwner(row, NONE);
    page.setPrevOfOwner(row, tail);
    if (tail === NONE) list.head = slot;
    else this.page(tail).setNextOfOwner(tail & PAGE_MASK, slot);
    list.tail = slot;
    list.count += 1;
    this.tags[slot >> PAGE_BITS]!.set(row, page.subaccount(row), page.tagOf(row));
    if (page.prev(row) !== LISTED) {
      page.setPrev(row, LISTED);
      page.setNext(row, this.unindexed);
      this.unindexed = slot;
    }
    return drops;
  }

  /**
   * Takes the oldest order out of a list, which must not be empty. The row of the next one is not
   * changed, as it is not in the cache: `prevOfOwner` ends at the head.
   */
  private takeOldest(list: OwnerList): number {
    const slot = list.head;
    const page = this.page(slot);
    const row = slot & PAGE_MASK;
    list.head = page.nextOfOwner(row);
    list.count -= 1;
    if (list.head === NONE) list.tail = NONE;
    if (page.isIndexed(row)) this.index.remove(hashNumber(page.id(row)), slot);
    page.empty(row);
    return slot;
  }

  nextOfOwner(slot: number): number {
    return this.page(slot).nextOfOwner(slot & PAGE_MASK);
  }

  /** The order before this one in its account's list; NONE for the oldest. */
  prevOfOwner(list: OwnerList, slot: number): number {
    return slot === list.head ? NONE : this.page(slot).prevOfOwner(slot & PAGE_MASK);
  }

  /** Number of matching rows; ignores the time fields of the filter. */
  countMatches(filter: RowFilter): number {
    let count = 0;
    for (const tags of this.tags) count += tags.count(filter);
    return count;
  }

  /** Indexes pending rows; lookups of ended orders are rare, so the index is built lazily. */
  private catchUp(): void {
    while (this.unindexed !== NONE) {
      const slot = this.unindexed;
      const page = this.page(slot);
      const row = slot & PAGE_MASK;
      this.unindexed = page.next(row);
      page.setPrev(row, UNLISTED);
      page.setIndexed(row);
      this.index.add(hashNumber(page.id(row)), slot);
    }
  }

  private take(): number {
    if ((this.used & PAGE_MASK) === 0) {
      this.pages.push(new OrderRows(PAGE_ROWS, CLIENT_ID_BYTES));
      this.tags.push(new RowTags(PAGE_ROWS));
    }
    return this.used++;
  }
}
