/**
 * Retained ended orders: copies of rows in pages, so growing copies no rows. No rule reads them.
 *
 * A slot is a page and a row of it; freed slots are reused. Each account has its own list, oldest
 * first. Lists are links in the rows: owner links chain the ended orders of an account or the free
 * rows; queue links chain rows that are not in the index.
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
  private free = NONE;
  private readonly index = new SlotIndex();
  /** The first row that is not in the index; listed rows may be free already. */
  private unindexed = NONE;

  /** Rows in use or freed. */
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

  /** Appends a copy of an ended order to its account's list. */
  add(list: OwnerList, from: OrderRows, source: number): void {
    const slot = this.take();
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
    if (page.prev(row) === LISTED) return;
    page.setPrev(row, LISTED);
    page.setNext(row, this.unindexed);
    this.unindexed = slot;
  }

  /** Drops the oldest order of a list, which must not be empty. */
  removeOldest(list: OwnerList): void {
    const slot = list.head;
    const page = this.page(slot);
    const row = slot & PAGE_MASK;
    const next = page.nextOfOwner(row);
    list.head = next;
    list.count -= 1;
    if (next === NONE) list.tail = NONE;
    else this.page(next).setPrevOfOwner(next & PAGE_MASK, NONE);
    if (page.isIndexed(row)) this.index.remove(hashNumber(page.id(row)), slot);
    page.empty(row);
    this.tags[slot >> PAGE_BITS]!.clear(row);
    page.setNextOfOwner(row, this.free);
    this.free = slot;
  }

  nextOfOwner(slot: number): number {
    return this.page(slot).nextOfOwner(slot & PAGE_MASK);
  }

  prevOfOwner(slot: number): number {
    return this.page(slot).prevOfOwner(slot & PAGE_MASK);
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
      if (page.isFree(row)) continue;
      page.setIndexed(row);
      this.index.add(hashNumber(page.id(row)), slot);
    }
  }

  private take(): number {
    const slot = this.free;
    if (slot !== NONE) {
      this.free = this.nextOfOwner(slot);
      return slot;
    }
    if ((this.used & PAGE_MASK) === 0) {
      this.pages.push(new OrderRows(PAGE_ROWS, CLIENT_ID_BYTES));
      this.tags.push(new RowTags(PAGE_ROWS));
    }
    return this.used++;
  }
}
