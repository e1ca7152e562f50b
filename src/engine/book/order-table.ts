/**
 * All orders of one store, as rows in one buffer: 112 bytes an order, no objects. A row is two cache lines, where a
 * column each would touch twenty. The exchange holds two of them:
 * live orders (and the tape's house segments), and ended orders while they are retained.
 *
 * A slot is a row; slots are reused and mean nothing outside one process: no hash, event or snapshot contains one.
 * An order is named by its id, which is never reused; `slotOf` finds it in O(1). House segments have id 0.
 *
 * Invariant: 0 ≤ left ≤ |lots|; `lots` and `left` are whole lots, settled = lots − side × left.
 *
 * This file and the price ladder alone may assert (`!`) that a typed array has the slot it is asked for.
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
import type { EndReason } from '../rejections.ts';
import { END_REASONS } from '../rejections.ts';
import type { Special } from '../orders/special.ts';
import type { OrderStatus } from '../views.ts';
import { RowTags, type RowFilter } from './row-tags.ts';

/** Id of a row that is not in use. */
const FREE = -1;
/** No slot. */
export const NONE = -1;

export const ORDER_TYPES = [
  'limit',
  'twap',
  'takeProfit',
  'stopLoss',
  'trailingStop',
  'iceberg',
] as const satisfies readonly OrderType[];

export const ORDER_STATUSES = [
  'new',
  'partiallyFilled',
  'filled',
  'pending',
  'cancelled',
  'expired',
  'rejected',
] as const satisfies readonly OrderStatus[];

const IOC = 1;
const POST_ONLY = 2;
const REDUCE_ONLY = 4;
const HOUSE = 8;
const RESTING = 16;
/** The order has a row in `extras`. */
const EXTRA = 32;
/** The order has a timer for its expiry. */
const EXPIRES = 64;
/** The order is in the index. */
const INDEXED = 128;
/** The order waits for its trigger, its time or its turn. */
const WAITING = 256;

/** A row: 14 doubles, or 28 words. Places of the doubles and 64-bit integers, then of the words. */
const FLOATS = 14;
const INTS = 28;
const ROW_BYTES = 112;
const ID = 0;
const LOTS = 1;
const LEFT = 2;
const CREATED = 3;
const UPDATED = 4;
const SEQ = 5;
const NONCE = 6;
const EXPIRY = 7;
const SUBACCOUNT = 16;
const MARKET = 17;
const PRICE = 18;
const FLAGS = 19;
const TYPE = 20;
const STATUS = 21;
const REASON = 22;
/** From here on links, which belong to one table: queue links of the order book, and the owner's list. */
const LINKS = 23;
const NEXT = 23;
const PREV = 24;
const LEVEL = 25;
const OWNER_NEXT = 26;
const OWNER_PREV = 27;

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

export class OrderTable {
  private capacity = 64;
  private used = 0;
  private free = NONE;
  private liveCount = 0;
  private readonly index = new SlotIndex(128);
  /** Copies that no look-up has made it index yet; slots may stand here twice, or be free again. */
  private unindexed: number[] = [];

  /** Rows one after the other, seen as doubles, as 32-bit and as 64-bit integers. */
  private buffer = new ArrayBuffer(64 * ROW_BYTES);
  private floats = new Float64Array(this.buffer);
  private ints = new Int32Array(this.buffer);
  private bigs = new BigInt64Array(this.buffer);
  private readonly clientIds: (string | null)[] = [];
  /** Rare, so kept beside the columns. */
  private readonly extras = new Map<number, OrderExtras>();

  /** In tables of which readers count many rows. */
  private readonly tags: RowTags | null;

  constructor(counted = false) {
    this.tags = counted ? new RowTags(this.capacity) : null;
  }

  /** Orders and segments in the table. */
  get size(): number {
    return this.liveCount;
  }

  slotOf(id: OrderId): number {
    if (this.unindexed.length > 0) this.catchUp();
    return this.index.findNumber(hashNumber(id), this.floats, FLOATS, id);
  }

  /** Ended orders are many and looked up seldom: they enter the index when someone looks. */
  private catchUp(): void {
    for (const slot of this.unindexed) {
      if (
        this.floats[slot * FLOATS + ID] === FREE ||
        (this.ints[slot * INTS + FLAGS]! & INDEXED) !== 0
      )
        continue;
      this.ints[slot * INTS + FLAGS] = this.ints[slot * INTS + FLAGS]! | INDEXED;
      this.index.add(hashNumber(this.floats[slot * FLOATS + ID]!), slot);
    }
    this.unindexed = [];
  }

  add(id: OrderId, terms: OrderTerms, nowUs: TimeUs, seq: Seq): number {
    const slot = this.take();
    this.floats[slot * FLOATS + ID] = id;
    this.floats[slot * FLOATS + LOTS] = terms.lots;
    this.floats[slot * FLOATS + LEFT] = Math.abs(terms.lots);
    this.bigs[slot * FLOATS + NONCE] = terms.nonce;
    this.bigs[slot * FLOATS + EXPIRY] = terms.expiresAtMs;
    this.floats[slot * FLOATS + CREATED] = nowUs;
    this.floats[slot * FLOATS + UPDATED] = nowUs;
    this.floats[slot * FLOATS + SEQ] = seq;
    this.ints[slot * INTS + SUBACCOUNT] = terms.subaccount;
    this.ints[slot * INTS + MARKET] = terms.market;
    this.ints[slot * INTS + PRICE] = terms.priceTicks;
    this.ints[slot * INTS + FLAGS] =
      INDEXED |
      (terms.ioc ? IOC : 0) |
      (terms.postOnly ? POST_ONLY : 0) |
      (terms.reduceOnly ? REDUCE_ONLY : 0);
    this.ints[slot * INTS + TYPE] = codeOf(ORDER_TYPES, terms.orderType);
    this.ints[slot * INTS + STATUS] = 0;
    this.ints[slot * INTS + REASON] = 0;
    this.clientIds[slot] = terms.clientId;
    if (terms.originator !== null || terms.delegate !== null) {
      this.ints[slot * INTS + FLAGS] = this.ints[slot * INTS + FLAGS]! | EXTRA;
      this.extras.set(slot, {
        delegate: terms.delegate,
        originator: terms.originator,
        originatorFeePpm: terms.originatorFeePpm,
        special: null,
      });
    }
    this.index.add(hashNumber(id), slot);
    this.noteTag(slot);
    return slot;
  }

  /** A house segment: volume of the tape, without id and history. */
  addSegment(subaccount: SubaccountId, market: MarketId, lots: Lots, price: PriceTicks): number {
    const slot = this.take();
    this.floats[slot * FLOATS + ID] = 0;
    this.floats[slot * FLOATS + LOTS] = lots;
    this.floats[slot * FLOATS + LEFT] = Math.abs(lots);
    this.ints[slot * INTS + SUBACCOUNT] = subaccount;
    this.ints[slot * INTS + MARKET] = market;
    this.ints[slot * INTS + PRICE] = price;
    this.ints[slot * INTS + FLAGS] = HOUSE;
    this.clientIds[slot] = null;
    return slot;
  }

  /** Copies a row of another table; links are not copied. */
  addCopy(from: OrderTable, source: number): number {
    const slot = this.take();
    const to = slot * INTS;
    const start = source * INTS;
    // Word by word: a double's bits may not survive a copy as a double.
    for (let i = 0; i < LINKS; i++) this.ints[to + i] = from.ints[start + i]!;
    const flags = from.ints[start + FLAGS]! & ~(RESTING | EXPIRES | INDEXED | WAITING);
    this.ints[to + FLAGS] = flags;
    this.clientIds[slot] = from.clientIds[source] ?? null;
    const extras = (flags & EXTRA) === 0 ? undefined : from.extras.get(source);
    if (extras !== undefined) this.extras.set(slot, extras);
    this.unindexed.push(slot);
    this.noteTag(slot);
    return slot;
  }

  /** Frees the slot. */
  remove(slot: number): void {
    if ((this.ints[slot * INTS + FLAGS]! & INDEXED) !== 0)
      this.index.remove(hashNumber(this.floats[slot * FLOATS + ID]!), slot);
    this.floats[slot * FLOATS + ID] = FREE;
    this.tags?.clear(slot);
    this.clientIds[slot] = null;
    if ((this.ints[slot * INTS + FLAGS]! & EXTRA) !== 0) this.extras.delete(slot);
    this.ints[slot * INTS + NEXT] = this.free;
    this.free = slot;
    this.liveCount -= 1;
  }

  id(slot: number): OrderId {
    return this.floats[slot * FLOATS + ID]! as OrderId;
  }
  lots(slot: number): Lots {
    return this.floats[slot * FLOATS + LOTS]! as Lots;
  }
  /** Unfilled size, ≥ 0. */
  left(slot: number): number {
    return this.floats[slot * FLOATS + LEFT]!;
  }
  /** 1 for a bid, −1 for an ask. */
  side(slot: number): 1 | -1 {
    return this.floats[slot * FLOATS + LOTS]! > 0 ? 1 : -1;
  }
  /** Unfilled part with the order's sign; never −0. */
  remaining(slot: number): Lots {
    const left = this.floats[slot * FLOATS + LEFT]!;
    return (this.floats[slot * FLOATS + LOTS]! > 0 || left === 0 ? left : -left) as Lots;
  }
  settled(slot: number): Lots {
    return (this.floats[slot * FLOATS + LOTS]! - this.remaining(slot)) as Lots;
  }
  subaccount(slot: number): SubaccountId {
    return this.ints[slot * INTS + SUBACCOUNT]! as SubaccountId;
  }
  market(slot: number): MarketId {
    return this.ints[slot * INTS + MARKET]! as MarketId;
  }
  price(slot: number): PriceTicks {
    return this.ints[slot * INTS + PRICE]! as PriceTicks;
  }
  isHouse(slot: number): boolean {
    return (this.ints[slot * INTS + FLAGS]! & HOUSE) !== 0;
  }
  isReduceOnly(slot: number): boolean {
    return (this.ints[slot * INTS + FLAGS]! & REDUCE_ONLY) !== 0;
  }
  isIoc(slot: number): boolean {
    return (this.ints[slot * INTS + FLAGS]! & IOC) !== 0;
  }
  isPostOnly(slot: number): boolean {
    return (this.ints[slot * INTS + FLAGS]! & POST_ONLY) !== 0;
  }
  /** Whether the order has a timer for its expiry. */
  hasTimer(slot: number): boolean {
    return (this.ints[slot * INTS + FLAGS]! & EXPIRES) !== 0;
  }
  setTimer(slot: number): void {
    this.ints[slot * INTS + FLAGS] = this.ints[slot * INTS + FLAGS]! | EXPIRES;
  }
  /** Whether the order is in the queue of a level. */
  isResting(slot: number): boolean {
    return (this.ints[slot * INTS + FLAGS]! & RESTING) !== 0;
  }
  setResting(slot: number, resting: boolean): void {
    this.ints[slot * INTS + FLAGS] = resting
      ? this.ints[slot * INTS + FLAGS]! | RESTING
      : this.ints[slot * INTS + FLAGS]! & ~RESTING;
  }
  isWaiting(slot: number): boolean {
    return (this.ints[slot * INTS + FLAGS]! & WAITING) !== 0;
  }
  setWaiting(slot: number, waiting: boolean): void {
    const flags = this.ints[slot * INTS + FLAGS]!;
    this.ints[slot * INTS + FLAGS] = waiting ? flags | WAITING : flags & ~WAITING;
  }
  nonce(slot: number): bigint {
    return this.bigs[slot * FLOATS + NONCE]!;
  }
  expiresAtMs(slot: number): bigint {
    return this.bigs[slot * FLOATS + EXPIRY]!;
  }
  createdAtUs(slot: number): TimeUs {
    return this.floats[slot * FLOATS + CREATED]! as TimeUs;
  }
  updatedAtUs(slot: number): TimeUs {
    return this.floats[slot * FLOATS + UPDATED]! as TimeUs;
  }
  lastUpdateSeq(slot: number): Seq {
    return this.floats[slot * FLOATS + SEQ]! as Seq;
  }
  delegate(slot: number): AccountId | null {
    return this.extrasOf(slot)?.delegate ?? null;
  }
  clientId(slot: number): string | null {
    return this.clientIds[slot] ?? null;
  }
  originator(slot: number): Address | null {
    return this.extrasOf(slot)?.originator ?? null;
  }
  originatorFeePpm(slot: number): Ppm {
    return this.extrasOf(slot)?.originatorFeePpm ?? (0 as Ppm);
  }
  /** What makes the order more than a plain limit; null for most. */
  special(slot: number): Special | null {
    return this.extrasOf(slot)?.special ?? null;
  }
  setSpecial(slot: number, special: Special): void {
    const extras = this.extrasOf(slot);
    this.ints[slot * INTS + FLAGS] = this.ints[slot * INTS + FLAGS]! | EXTRA;
    this.extras.set(slot, {
      delegate: extras?.delegate ?? null,
      originator: extras?.originator ?? null,
      originatorFeePpm: extras?.originatorFeePpm ?? (0 as Ppm),
      special,
    });
  }
  private extrasOf(slot: number): OrderExtras | undefined {
    return (this.ints[slot * INTS + FLAGS]! & EXTRA) === 0 ? undefined : this.extras.get(slot);
  }
  orderType(slot: number): OrderType {
    return ORDER_TYPES[this.ints[slot * INTS + TYPE]!]!;
  }
  status(slot: number): OrderStatus {
    return ORDER_STATUSES[this.ints[slot * INTS + STATUS]!]!;
  }
  reason(slot: number): EndReason | null {
    const code = this.ints[slot * INTS + REASON]!;
    return code === 0 ? null : END_REASONS[code - 1]!;
  }

  setStatus(slot: number, status: OrderStatus, reason: EndReason | null): void {
    this.ints[slot * INTS + STATUS] = codeOf(ORDER_STATUSES, status);
    this.ints[slot * INTS + REASON] = reason === null ? 0 : codeOf(END_REASONS, reason) + 1;
    this.noteTag(slot);
  }
  touch(slot: number, nowUs: TimeUs, seq: Seq): void {
    this.floats[slot * FLOATS + UPDATED] = nowUs;
    this.floats[slot * FLOATS + SEQ] = seq;
  }
  setCreated(slot: number, nowUs: TimeUs): void {
    this.floats[slot * FLOATS + CREATED] = nowUs;
  }
  /** Takes filled or withdrawn size off the order. */
  reduce(slot: number, by: number): void {
    this.floats[slot * FLOATS + LEFT] = this.floats[slot * FLOATS + LEFT]! - by;
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
  level(slot: number): number {
    return this.ints[slot * INTS + LEVEL]!;
  }
  setNext(slot: number, next: number): void {
    this.ints[slot * INTS + NEXT] = next;
  }
  setPrev(slot: number, prev: number): void {
    this.ints[slot * INTS + PREV] = prev;
  }
  setLevel(slot: number, level: number): void {
    this.ints[slot * INTS + LEVEL] = level;
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

  prevOfOwner(slot: number): number {
    return this.ints[slot * INTS + OWNER_PREV]!;
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

  /** Whether the order is one of those a reader asks for; as many rows as there are may be asked. */
  matches(slot: number, filter: RowFilter): boolean {
    const { floats, ints } = this;
    return (
      ints[slot * INTS + SUBACCOUNT] === filter.subaccount &&
      (filter.types & (1 << ints[slot * INTS + TYPE]!)) !== 0 &&
      (filter.statuses & (1 << ints[slot * INTS + STATUS]!)) !== 0 &&
      (filter.market === null || ints[slot * INTS + MARKET] === filter.market) &&
      // Times lie in the row's other cache line, which most readers can do without.
      (!filter.timed ||
        (floats[slot * FLOATS + CREATED]! >= filter.createdFromUs &&
          floats[slot * FLOATS + CREATED]! < filter.createdToUs &&
          floats[slot * FLOATS + UPDATED]! >= filter.updatedFromUs &&
          floats[slot * FLOATS + UPDATED]! < filter.updatedToUs))
    );
  }

  /** How many rows match. */
  countMatches(filter: RowFilter): number {
    if (this.tags !== null && !filter.timed) return this.tags.count(filter, this.used);
    let count = 0;
    for (let slot = 0; slot < this.used; slot++) {
      if (this.floats[slot * FLOATS + ID] !== FREE && this.matches(slot, filter)) count += 1;
    }
    return count;
  }

  private noteTag(slot: number): void {
    if (this.tags === null) return;
    const row = slot * INTS;
    const { ints } = this;
    this.tags.set(
      slot,
      ints[row + SUBACCOUNT]!,
      ints[row + TYPE]!,
      ints[row + STATUS]!,
      ints[row + MARKET]!,
    );
  }

  /** Rows in use or free again. */
  get rows(): number {
    return this.used;
  }

  /** Slots of all orders (no segments) in ascending order id. For snapshots; O(n log n). */
  orderSlots(): number[] {
    const slots: number[] = [];
    for (let slot = 0; slot < this.used; slot++) {
      if (this.floats[slot * FLOATS + ID]! > 0) slots.push(slot);
    }
    return slots.sort((a, b) => this.floats[a * FLOATS + ID]! - this.floats[b * FLOATS + ID]!);
  }

  private take(): number {
    let slot = this.free;
    if (slot !== NONE) {
      this.free = this.ints[slot * INTS + NEXT]!;
    } else {
      if (this.used === this.capacity) this.grow();
      slot = this.used++;
    }
    this.ints[slot * INTS + NEXT] = NONE;
    this.ints[slot * INTS + PREV] = NONE;
    this.ints[slot * INTS + LEVEL] = NONE;
    this.ints[slot * INTS + OWNER_NEXT] = NONE;
    this.ints[slot * INTS + OWNER_PREV] = NONE;
    this.liveCount += 1;
    return slot;
  }

  private grow(): void {
    // Pages never touched cost nothing, while every freed smaller buffer is a hole in the heap: large tables take big steps.
    this.capacity *= this.capacity * ROW_BYTES < 1 << 20 ? 2 : 8;
    const old = this.ints;
    this.buffer = new ArrayBuffer(this.capacity * ROW_BYTES);
    this.floats = new Float64Array(this.buffer);
    this.ints = new Int32Array(this.buffer);
    this.bigs = new BigInt64Array(this.buffer);
    this.ints.set(old);
    this.tags?.grow(this.capacity);
  }
}

/** What few orders have. */
interface OrderExtras {
  readonly delegate: AccountId | null;
  readonly originator: Address | null;
  readonly originatorFeePpm: Ppm;
  readonly special: Special | null;
}

/** Head, tail and length of one owner's orders. */
export interface OwnerList {
  head: number;
  tail: number;
  count: number;
}

export function emptyOwnerList(): OwnerList {
  return { head: NONE, tail: NONE, count: 0 };
}
