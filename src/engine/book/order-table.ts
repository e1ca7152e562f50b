/**
 * The live orders of the exchange and the tape's house segments: reused rows, and an index by id.
 *
 * A slot is a row index. Slots are reused and local to a process: no hash, event or snapshot
 * contains one. An order's id is never reused; `slotOf` finds it in O(1). House segments have id 0.
 *
 * Only files of this folder may assert (`!`) that a typed-array index is in range.
 */
import type { Lots, MarketId, OrderId, PriceTicks, SubaccountId } from '../../num/units.ts';
import type { CommandClock } from '../clock.ts';
import type { OrderTerms } from '../commands.ts';
import { IdIndex } from './id-index.ts';
import { NONE, OrderRows, ROW_BYTES } from './order-rows.ts';

export { emptyOwnerList, NONE, ORDER_STATUSES, type OwnerList } from './order-rows.ts';

const FIRST_ROWS = 64;
/** Allocation unit of clientIds, in bytes. */
const CLIENT_ID_BYTES = 1 << 18;

export class OrderTable extends OrderRows {
  private capacity = FIRST_ROWS;
  private used = 0;
  private free = NONE;
  private liveCount = 0;
  private readonly index = new IdIndex();

  constructor() {
    super(FIRST_ROWS, CLIENT_ID_BYTES);
  }

  /** Orders and segments in the table. */
  get size(): number {
    return this.liveCount;
  }

  slotOf(id: OrderId): number {
    return this.index.find(id);
  }

  add(id: OrderId, terms: OrderTerms, clock: CommandClock): number {
    const slot = this.take();
    this.fill(slot, id, terms, clock);
    this.index.add(id, slot);
    return slot;
  }

  /** Adds a house segment: tape volume, without id and history. */
  addSegment(subaccount: SubaccountId, market: MarketId, lots: Lots, price: PriceTicks): number {
    const slot = this.take();
    this.fillSegment(slot, subaccount, market, lots, price);
    return slot;
  }

  /** Makes room for as many orders at once: intermediate rows would become garbage. */
  reserve(orders: number): void {
    if (this.capacity < orders) this.grow(orders);
    this.index.reserve(orders);
  }

  /** Frees the slot. */
  remove(slot: number): void {
    if (this.isIndexed(slot)) this.index.remove(this.id(slot));
    this.empty(slot);
    this.setNext(slot, this.free);
    this.free = slot;
    this.liveCount -= 1;
  }

  /** Slots of all orders (no segments) in ascending order id. For snapshots; O(n log n). */
  orderSlots(): number[] {
    const slots = this.anyOrderSlots();
    // They are in order unless slots of ended orders were used again.
    let last = 0;
    for (const slot of slots) {
      const id = this.id(slot);
      if (id < last) return slots.sort((a, b) => this.id(a) - this.id(b));
      last = id;
    }
    return slots;
  }

  /** As `orderSlots`, in no particular order; O(n). */
  anyOrderSlots(): number[] {
    const slots: number[] = [];
    for (let slot = 0; slot < this.used; slot++) {
      if (this.id(slot) > 0) slots.push(slot);
    }
    return slots;
  }

  private take(): number {
    this.liveCount += 1;
    const slot = this.free;
    if (slot !== NONE) {
      this.free = this.next(slot);
      return slot;
    }
    if (this.used === this.capacity) this.grow();
    return this.used++;
  }

  private grow(rows = this.capacity + 1): void {
    // Large steps: untouched pages cost nothing, freed smaller buffers fragment the heap.
    while (this.capacity < rows) this.capacity *= this.capacity * ROW_BYTES < 1 << 20 ? 2 : 8;
    const old = this.ints;
    const buffer = new ArrayBuffer(this.capacity * ROW_BYTES);
    this.floats = new Float64Array(buffer);
    this.ints = new Int32Array(buffer);
    this.bigs = new BigInt64Array(buffer);
    this.words = new Uint32Array(buffer);
    this.ints.set(old);
  }
}
