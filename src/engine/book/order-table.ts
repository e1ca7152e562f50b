/**
 * The live orders of the exchange, with the tape's house segments: rows that are reused, and an index by id.
 *
 * A slot is a row; slots are reused and mean nothing outside one process: no hash, event or snapshot contains one.
 * An order is named by its id, which is never reused; `slotOf` finds it in O(1). House segments have id 0.
 *
 * The files of this folder alone may assert (`!`) that a typed array has the slot it is asked for.
 */
import { codeOf } from '../../base/code-of.ts';
import { SlotIndex, hashNumber } from '../../base/slot-index.ts';
import type {
  AccountId,
  Address,
  Lots,
  MarketId,
  OrderId,
  Ppm,
  PriceTicks,
  Seq,
  SubaccountId,
  TimeUs,
} from '../../num/units.ts';
import type { OrderType } from '../commands.ts';
import {
  CREATED,
  EXPIRY,
  EXTRA,
  FLOATS,
  FREE,
  HOUSE,
  ID,
  INDEXED,
  INTS,
  IOC,
  LEFT,
  LOTS,
  MARKET,
  NEXT,
  NONCE,
  NONE,
  ORDER_TYPES,
  OrderRows,
  OWNER_NEXT,
  OWNER_PREV,
  POST_ONLY,
  PREV,
  PRICE,
  REDUCE_ONLY,
  ROW_BYTES,
  SEQ,
  STATE,
  SUBACCOUNT,
  TYPE_SHIFT,
  UPDATED,
  type OwnerList,
} from './order-rows.ts';

export { emptyOwnerList, NONE, ORDER_STATUSES, ORDER_TYPES, type OwnerList } from './order-rows.ts';

const FIRST_ROWS = 64;
/** Bytes of clientIds that are taken at a time. */
const CLIENT_ID_BYTES = 1 << 18;

/** Everything that an order is born with, as its command says it. */
export interface OrderTerms {
  readonly subaccount: SubaccountId;
  readonly market: MarketId;
  readonly orderType: OrderType;
  readonly lots: Lots;
  readonly priceTicks: PriceTicks;
  readonly ioc: boolean;
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
  readonly nonce: bigint;
  readonly expiresAtMs: bigint;
  readonly delegate: AccountId | null;
  readonly clientId: string | null;
  readonly originator: Address | null;
  readonly originatorFeePpm: Ppm;
}

export class OrderTable extends OrderRows {
  private capacity = FIRST_ROWS;
  private used = 0;
  private free = NONE;
  private liveCount = 0;
  private readonly index = new SlotIndex(128);

  constructor() {
    super(FIRST_ROWS, CLIENT_ID_BYTES);
  }

  /** Orders and segments in the table. */
  get size(): number {
    return this.liveCount;
  }

  slotOf(id: OrderId): number {
    return this.index.findNumber(hashNumber(id), this.floats, FLOATS, id);
  }

  add(id: OrderId, terms: OrderTerms, nowUs: TimeUs, seq: Seq): number {
    const slot = this.take();
    const row = slot * FLOATS;
    const { floats, bigs } = this;
    floats[row + ID] = id;
    floats[row + LOTS] = terms.lots;
    floats[row + LEFT] = Math.abs(terms.lots);
    floats[row + CREATED] = nowUs;
    floats[row + UPDATED] = nowUs;
    floats[row + SEQ] = seq;
    bigs[row + NONCE] = terms.nonce;
    bigs[row + EXPIRY] = terms.expiresAtMs;
    const extra = terms.originator !== null || terms.delegate !== null;
    this.setWords(
      slot,
      terms.subaccount,
      terms.market,
      terms.priceTicks,
      INDEXED |
        (terms.ioc ? IOC : 0) |
        (terms.postOnly ? POST_ONLY : 0) |
        (terms.reduceOnly ? REDUCE_ONLY : 0) |
        (extra ? EXTRA : 0) |
        (codeOf(ORDER_TYPES, terms.orderType) << TYPE_SHIFT),
    );
    if (terms.clientId !== null) this.clientIds.set(slot, terms.clientId);
    if (extra) {
      this.extras.set(slot, {
        delegate: terms.delegate,
        originator: terms.originator,
        originatorFeePpm: terms.originatorFeePpm,
        special: null,
      });
    }
    this.index.add(hashNumber(id), slot);
    return slot;
  }

  /** A house segment: volume of the tape, without id and history. */
  addSegment(subaccount: SubaccountId, market: MarketId, lots: Lots, price: PriceTicks): number {
    const slot = this.take();
    this.floats[slot * FLOATS + ID] = 0;
    this.floats[slot * FLOATS + LOTS] = lots;
    this.floats[slot * FLOATS + LEFT] = Math.abs(lots);
    this.setWords(slot, subaccount, market, price, HOUSE);
    return slot;
  }

  /** Frees the slot. */
  remove(slot: number): void {
    const state = this.ints[slot * INTS + STATE]!;
    if ((state & INDEXED) !== 0) {
      this.index.remove(hashNumber(this.floats[slot * FLOATS + ID]!), slot);
    }
    this.floats[slot * FLOATS + ID] = FREE;
    this.clientIds.clear(slot);
    if ((state & EXTRA) !== 0) this.extras.delete(slot);
    this.ints[slot * INTS + NEXT] = this.free;
    this.free = slot;
    this.liveCount -= 1;
  }

  setCreated(slot: number, nowUs: TimeUs): void {
    this.floats[slot * FLOATS + CREATED] = nowUs;
  }
  /** Takes filled or withdrawn size off the order. */
  reduce(slot: number, by: number): void {
    this.floats[slot * FLOATS + LEFT] = this.floats[slot * FLOATS + LEFT]! - by;
  }
  /** A house segment of its own goes to another price, with another size. */
  moveSegment(slot: number, price: PriceTicks, size: number): void {
    this.floats[slot * FLOATS + LEFT] = size;
    this.ints[slot * INTS + PRICE] = price;
  }
  /** A house segment grows in place while it is the last of its queue. */
  growSegment(slot: number, by: number): void {
    this.floats[slot * FLOATS + LEFT] = this.floats[slot * FLOATS + LEFT]! + by;
  }

  next(slot: number): number {
    return this.ints[slot * INTS + NEXT]!;
  }
  prev(slot: number): number {
    return this.ints[slot * INTS + PREV]!;
  }
  setNext(slot: number, next: number): void {
    this.ints[slot * INTS + NEXT] = next;
  }
  setPrev(slot: number, prev: number): void {
    this.ints[slot * INTS + PREV] = prev;
  }

  nextOfOwner(slot: number): number {
    return this.ints[slot * INTS + OWNER_NEXT]!;
  }

  /** Appends the slot to its owner's list. */
  linkOwner(list: OwnerList, slot: number): void {
    this.ints[slot * INTS + OWNER_PREV] = list.tail;
    this.ints[slot * INTS + OWNER_NEXT] = NONE;
    if (list.tail === NONE) list.head = slot;
    else this.ints[list.tail * INTS + OWNER_NEXT] = slot;
    list.tail = slot;
    list.count += 1;
  }

  unlinkOwner(list: OwnerList, slot: number): void {
    const prev = this.ints[slot * INTS + OWNER_PREV]!;
    const next = this.ints[slot * INTS + OWNER_NEXT]!;
    if (prev === NONE) list.head = next;
    else this.ints[prev * INTS + OWNER_NEXT] = next;
    if (next === NONE) list.tail = prev;
    else this.ints[next * INTS + OWNER_PREV] = prev;
    list.count -= 1;
  }

  /** Slots of all orders (no segments) in ascending order id. For snapshots; O(n log n). */
  orderSlots(): number[] {
    const slots: number[] = [];
    for (let slot = 0; slot < this.used; slot++) {
      if (this.floats[slot * FLOATS + ID]! > 0) slots.push(slot);
    }
    return slots.sort((a, b) => this.floats[a * FLOATS + ID]! - this.floats[b * FLOATS + ID]!);
  }

  /** The words of a row that is taken into use, without links. */
  private setWords(
    slot: number,
    subaccount: number,
    market: number,
    price: number,
    state: number,
  ): void {
    const { ints } = this;
    const row = slot * INTS;
    ints[row + SUBACCOUNT] = subaccount;
    ints[row + MARKET] = market;
    ints[row + PRICE] = price;
    ints[row + STATE] = state;
    ints[row + NEXT] = NONE;
    ints[row + PREV] = NONE;
    ints[row + OWNER_NEXT] = NONE;
    ints[row + OWNER_PREV] = NONE;
  }

  private take(): number {
    this.liveCount += 1;
    const slot = this.free;
    if (slot !== NONE) {
      this.free = this.ints[slot * INTS + NEXT]!;
      return slot;
    }
    if (this.used === this.capacity) this.grow();
    return this.used++;
  }

  private grow(): void {
    // Pages never touched cost nothing, while every freed smaller buffer is a hole in the heap: large tables take big steps.
    this.capacity *= this.capacity * ROW_BYTES < 1 << 20 ? 2 : 8;
    const old = this.ints;
    const buffer = new ArrayBuffer(this.capacity * ROW_BYTES);
    this.floats = new Float64Array(buffer);
    this.ints = new Int32Array(buffer);
    this.bigs = new BigInt64Array(buffer);
    this.ints.set(old);
  }
}
