/**
 * Ended orders while they are retained: copies of rows, in pages, so that growing copies no rows. History: no rule reads it.
 *
 * A slot is a page and a row of it; freed ones are used again. Each account has a list of its own, oldest first.
 */
import { SlotIndex, hashNumber } from '../../base/slot-index.ts';
import type { OrderId } from '../../num/units.ts';
import { NONE, OrderRows, type OwnerList } from './order-rows.ts';
import { RowTags, type RowFilter } from './row-tags.ts';

const PAGE_BITS = 10;
const PAGE_ROWS = 1 << PAGE_BITS;
const PAGE_MASK = PAGE_ROWS - 1;
const CLIENT_ID_BYTES = 1 << 13;
/** Places in a pair of `links`. */
const NEWER = 0;
const OLDER = 1;

export class EndedOrders {
  private readonly pages: OrderRows[] = [];
  private readonly tags: RowTags[] = [];
  /** Neighbours of each slot in its account's list; of a free one, first the next free one. */
  private links = new Int32Array(2 * PAGE_ROWS);
  private used = 0;
  private free = NONE;
  private readonly index = new SlotIndex();
  /** Rows that no look-up has made it index yet; they may stand here twice, or be free again. */
  private unindexed = new Int32Array(PAGE_ROWS);
  private unindexedCount = 0;

  /** Rows in use or free again. */
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
    if (this.unindexedCount > 0) this.catchUp();
    return this.index.find(hashNumber(id), (slot) => this.page(slot).id(slot & PAGE_MASK) === id);
  }

  /** Copies an order that has ended to the end of its account's list. */
  add(list: OwnerList, from: OrderRows, source: number): void {
    const slot = this.take();
    const page = this.page(slot);
    const row = slot & PAGE_MASK;
    page.fillEnded(row, from, source);
    const { links } = this;
    const { tail } = list;
    links[2 * slot + OLDER] = tail;
    links[2 * slot + NEWER] = NONE;
    if (tail === NONE) list.head = slot;
    else links[2 * tail + NEWER] = slot;
    list.tail = slot;
    list.count += 1;
    this.tags[slot >> PAGE_BITS]!.set(row, page.subaccount(row), page.tagOf(row));
    if (this.unindexedCount === this.unindexed.length) this.makeRoom();
    this.unindexed[this.unindexedCount++] = slot;
  }

  /** Forgets the oldest order of a list, which has one. */
  removeOldest(list: OwnerList): void {
    const slot = list.head;
    const page = this.page(slot);
    const row = slot & PAGE_MASK;
    const next = this.links[2 * slot + NEWER]!;
    list.head = next;
    list.count -= 1;
    if (next === NONE) list.tail = NONE;
    else this.links[2 * next + OLDER] = NONE;
    if (page.isIndexed(row)) this.index.remove(hashNumber(page.id(row)), slot);
    page.empty(row);
    this.tags[slot >> PAGE_BITS]!.clear(row);
    this.links[2 * slot] = this.free;
    this.free = slot;
  }

  nextOfOwner(slot: number): number {
    return this.links[2 * slot + NEWER]!;
  }

  prevOfOwner(slot: number): number {
    return this.links[2 * slot + OLDER]!;
  }

  /** How many rows match, times apart. */
  countMatches(filter: RowFilter): number {
    let count = 0;
    for (const tags of this.tags) count += tags.count(filter);
    return count;
  }

  /** Ended orders are many and looked up seldom: they enter the index when someone looks. */
  private catchUp(): void {
    for (let i = 0; i < this.unindexedCount; i++) {
      const slot = this.unindexed[i]!;
      const page = this.page(slot);
      const row = slot & PAGE_MASK;
      if (page.isFree(row) || page.isIndexed(row)) continue;
      page.setIndexed(row);
      this.index.add(hashNumber(page.id(row)), slot);
    }
    this.unindexedCount = 0;
  }

  /** Each row needs to stand among the unindexed once: a list longer than the table is made anew from the rows. */
  private makeRoom(): void {
    const old = this.unindexed;
    if (old.length < 2 * this.used) {
      this.unindexed = new Int32Array(old.length * 2);
      this.unindexed.set(old);
      return;
    }
    this.unindexedCount = 0;
    for (let slot = 0; slot < this.used; slot++) {
      const page = this.page(slot);
      const row = slot & PAGE_MASK;
      if (page.isFree(row) || page.isIndexed(row)) continue;
      this.unindexed[this.unindexedCount++] = slot;
    }
  }

  private take(): number {
    const slot = this.free;
    if (slot !== NONE) {
      this.free = this.links[2 * slot]!;
      return slot;
    }
    if ((this.used & PAGE_MASK) === 0) {
      this.pages.push(new OrderRows(PAGE_ROWS, CLIENT_ID_BYTES));
      this.tags.push(new RowTags(PAGE_ROWS));
      if (2 * this.used === this.links.length) {
        const links = new Int32Array(this.links.length * 2);
        links.set(this.links);
        this.links = links;
      }
    }
    return this.used++;
  }
}
