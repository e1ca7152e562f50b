/**
 * All orders of one store, as a struct of arrays: about 106 bytes an order, no objects. The exchange holds two of them:
 * live orders (and the tape's house segments), and ended orders while they are retained.
 *
 * A slot is a row; slots are reused and mean nothing outside one process: no hash, event or snapshot contains one.
 * An order is named by its id, which is never reused; `slotOf` finds it in O(1). House segments have id 0.
 *
 * Invariant: 0 ≤ left ≤ |lots|; `lots` and `left` are whole lots, settled = lots − side × left.
 *
 * This file and the price ladder alone may assert (`!`) that a typed array has the slot it is asked for.
 */
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
import type { OrderStatus } from '../views.ts';

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

  private ids = new Float64Array(64);
  private lotsColumn = new Float64Array(64);
  private leftColumn = new Float64Array(64);
  private nonces = new BigInt64Array(64);
  private expiries = new BigInt64Array(64);
  private nonceWords = new Int32Array(this.nonces.buffer);
  private expiryWords = new Int32Array(this.expiries.buffer);
  private created = new Float64Array(64);
  private updated = new Float64Array(64);
  private seqs = new Float64Array(64);
  private subaccounts = new Int32Array(64);
  private markets = new Uint16Array(64);
  private prices = new Int32Array(64);
  private flags = new Uint8Array(64);
  private types = new Uint8Array(64);
  private statuses = new Uint8Array(64);
  private reasons = new Uint8Array(64);
  private readonly clientIds: (string | null)[] = [];
  /** Rare, so kept beside the columns. */
  private readonly extras = new Map<number, OrderExtras>();

  /** Queue links, owned by the order book; free-list link of an unused slot is `nextColumn`. */
  private nextColumn = new Int32Array(64);
  private prevColumn = new Int32Array(64);
  private levels = new Int32Array(64);
  /** Owner's list: a subaccount's live orders, or an account's ended ones. */
  private ownerNext = new Int32Array(64);
  private ownerPrev = new Int32Array(64);

  /** Orders and segments in the table. */
  get size(): number {
    return this.liveCount;
  }

  slotOf(id: OrderId): number {
    if (this.unindexed.length > 0) this.catchUp();
    return this.index.findNumber(hashNumber(id), this.ids, id);
  }

  /** Ended orders are many and looked up seldom: they enter the index when someone looks. */
  private catchUp(): void {
    for (const slot of this.unindexed) {
      if (this.ids[slot] === FREE || (this.flags[slot]! & INDEXED) !== 0) continue;
      this.flags[slot] = this.flags[slot]! | INDEXED;
      this.index.add(hashNumber(this.ids[slot]!), slot);
    }
    this.unindexed = [];
  }

  add(id: OrderId, terms: OrderTerms, nowUs: TimeUs, seq: Seq): number {
    const slot = this.take();
    this.ids[slot] = id;
    this.lotsColumn[slot] = terms.lots;
    this.leftColumn[slot] = Math.abs(terms.lots);
    this.nonces[slot] = terms.nonce;
    this.expiries[slot] = terms.expiresAtMs;
    this.created[slot] = nowUs;
    this.updated[slot] = nowUs;
    this.seqs[slot] = seq;
    this.subaccounts[slot] = terms.subaccount;
    this.markets[slot] = terms.market;
    this.prices[slot] = terms.priceTicks;
    this.flags[slot] =
      INDEXED |
      (terms.ioc ? IOC : 0) |
      (terms.postOnly ? POST_ONLY : 0) |
      (terms.reduceOnly ? REDUCE_ONLY : 0);
    this.types[slot] = ORDER_TYPES.indexOf(terms.orderType);
    this.statuses[slot] = 0;
    this.reasons[slot] = 0;
    this.clientIds[slot] = terms.clientId;
    if (terms.originator !== null || terms.delegate !== null) {
      this.flags[slot] = this.flags[slot] | EXTRA;
      this.extras.set(slot, {
        delegate: terms.delegate,
        originator: terms.originator,
        originatorFeePpm: terms.originatorFeePpm,
      });
    }
    this.index.add(hashNumber(id), slot);
    return slot;
  }

  /** A house segment: volume of the tape, without id and history. */
  addSegment(subaccount: SubaccountId, market: MarketId, lots: Lots, price: PriceTicks): number {
    const slot = this.take();
    this.ids[slot] = 0;
    this.lotsColumn[slot] = lots;
    this.leftColumn[slot] = Math.abs(lots);
    this.subaccounts[slot] = subaccount;
    this.markets[slot] = market;
    this.prices[slot] = price;
    this.flags[slot] = HOUSE;
    this.clientIds[slot] = null;
    return slot;
  }

  /** Copies a row of another table; links are not copied. */
  addCopy(from: OrderTable, source: number): number {
    const slot = this.take();
    this.ids[slot] = from.ids[source]!;
    this.lotsColumn[slot] = from.lotsColumn[source]!;
    this.leftColumn[slot] = from.leftColumn[source]!;
    // As pairs of words: copying a 64-bit integer as such would make a bigint of it.
    this.nonceWords[2 * slot] = from.nonceWords[2 * source]!;
    this.nonceWords[2 * slot + 1] = from.nonceWords[2 * source + 1]!;
    this.expiryWords[2 * slot] = from.expiryWords[2 * source]!;
    this.expiryWords[2 * slot + 1] = from.expiryWords[2 * source + 1]!;
    this.created[slot] = from.created[source]!;
    this.updated[slot] = from.updated[source]!;
    this.seqs[slot] = from.seqs[source]!;
    this.subaccounts[slot] = from.subaccounts[source]!;
    this.markets[slot] = from.markets[source]!;
    this.prices[slot] = from.prices[source]!;
    const flags = from.flags[source]! & ~(RESTING | EXPIRES | INDEXED);
    this.flags[slot] = flags;
    this.types[slot] = from.types[source]!;
    this.statuses[slot] = from.statuses[source]!;
    this.reasons[slot] = from.reasons[source]!;
    this.clientIds[slot] = from.clientIds[source] ?? null;
    const extras = (flags & EXTRA) === 0 ? undefined : from.extras.get(source);
    if (extras !== undefined) this.extras.set(slot, extras);
    this.unindexed.push(slot);
    return slot;
  }

  /** Frees the slot. */
  remove(slot: number): void {
    if ((this.flags[slot]! & INDEXED) !== 0) this.index.remove(hashNumber(this.ids[slot]!), slot);
    this.ids[slot] = FREE;
    this.clientIds[slot] = null;
    if ((this.flags[slot]! & EXTRA) !== 0) this.extras.delete(slot);
    this.nextColumn[slot] = this.free;
    this.free = slot;
    this.liveCount -= 1;
  }

  id(slot: number): OrderId {
    return this.ids[slot]! as OrderId;
  }
  lots(slot: number): Lots {
    return this.lotsColumn[slot]! as Lots;
  }
  /** Unfilled size, ≥ 0. */
  left(slot: number): number {
    return this.leftColumn[slot]!;
  }
  /** 1 for a bid, −1 for an ask. */
  side(slot: number): 1 | -1 {
    return this.lotsColumn[slot]! > 0 ? 1 : -1;
  }
  /** Unfilled part with the order's sign; never −0. */
  remaining(slot: number): Lots {
    const left = this.leftColumn[slot]!;
    return (this.lotsColumn[slot]! > 0 || left === 0 ? left : -left) as Lots;
  }
  settled(slot: number): Lots {
    return (this.lotsColumn[slot]! - this.remaining(slot)) as Lots;
  }
  subaccount(slot: number): SubaccountId {
    return this.subaccounts[slot]! as SubaccountId;
  }
  market(slot: number): MarketId {
    return this.markets[slot]! as MarketId;
  }
  price(slot: number): PriceTicks {
    return this.prices[slot]! as PriceTicks;
  }
  isHouse(slot: number): boolean {
    return (this.flags[slot]! & HOUSE) !== 0;
  }
  isReduceOnly(slot: number): boolean {
    return (this.flags[slot]! & REDUCE_ONLY) !== 0;
  }
  isIoc(slot: number): boolean {
    return (this.flags[slot]! & IOC) !== 0;
  }
  isPostOnly(slot: number): boolean {
    return (this.flags[slot]! & POST_ONLY) !== 0;
  }
  /** Whether the order has a timer for its expiry. */
  hasTimer(slot: number): boolean {
    return (this.flags[slot]! & EXPIRES) !== 0;
  }
  setTimer(slot: number): void {
    this.flags[slot] = this.flags[slot]! | EXPIRES;
  }
  /** Whether the order is in the queue of a level. */
  isResting(slot: number): boolean {
    return (this.flags[slot]! & RESTING) !== 0;
  }
  setResting(slot: number, resting: boolean): void {
    this.flags[slot] = resting ? this.flags[slot]! | RESTING : this.flags[slot]! & ~RESTING;
  }
  nonce(slot: number): bigint {
    return this.nonces[slot]!;
  }
  expiresAtMs(slot: number): bigint {
    return this.expiries[slot]!;
  }
  createdAtUs(slot: number): TimeUs {
    return this.created[slot]! as TimeUs;
  }
  updatedAtUs(slot: number): TimeUs {
    return this.updated[slot]! as TimeUs;
  }
  lastUpdateSeq(slot: number): Seq {
    return this.seqs[slot]! as Seq;
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
  private extrasOf(slot: number): OrderExtras | undefined {
    return (this.flags[slot]! & EXTRA) === 0 ? undefined : this.extras.get(slot);
  }
  orderType(slot: number): OrderType {
    return ORDER_TYPES[this.types[slot]!]!;
  }
  status(slot: number): OrderStatus {
    return ORDER_STATUSES[this.statuses[slot]!]!;
  }
  reason(slot: number): EndReason | null {
    const code = this.reasons[slot]!;
    return code === 0 ? null : END_REASONS[code - 1]!;
  }

  setStatus(slot: number, status: OrderStatus, reason: EndReason | null): void {
    this.statuses[slot] = ORDER_STATUSES.indexOf(status);
    this.reasons[slot] = reason === null ? 0 : END_REASONS.indexOf(reason) + 1;
  }
  touch(slot: number, nowUs: TimeUs, seq: Seq): void {
    this.updated[slot] = nowUs;
    this.seqs[slot] = seq;
  }
  setCreated(slot: number, nowUs: TimeUs): void {
    this.created[slot] = nowUs;
  }
  /** Takes filled or withdrawn size off the order. */
  reduce(slot: number, by: number): void {
    this.leftColumn[slot] = this.leftColumn[slot]! - by;
  }
  /** A house segment grows in place while it is the last of its queue. */
  growSegment(slot: number, by: number): void {
    this.leftColumn[slot] = this.leftColumn[slot]! + by;
  }

  next(slot: number): number {
    return this.nextColumn[slot]!;
  }
  prev(slot: number): number {
    return this.prevColumn[slot]!;
  }
  level(slot: number): number {
    return this.levels[slot]!;
  }
  setNext(slot: number, next: number): void {
    this.nextColumn[slot] = next;
  }
  setPrev(slot: number, prev: number): void {
    this.prevColumn[slot] = prev;
  }
  setLevel(slot: number, level: number): void {
    this.levels[slot] = level;
  }

  nextOfOwner(slot: number): number {
    return this.ownerNext[slot]!;
  }

  /** Appends the slot to its owner's list. */
  linkOwner(list: OwnerList, slot: number): void {
    this.ownerPrev[slot] = list.tail;
    this.ownerNext[slot] = NONE;
    if (list.tail === NONE) list.head = slot;
    else this.ownerNext[list.tail] = slot;
    list.tail = slot;
    list.count += 1;
  }

  prevOfOwner(slot: number): number {
    return this.ownerPrev[slot]!;
  }

  unlinkOwner(list: OwnerList, slot: number): void {
    const prev = this.ownerPrev[slot]!;
    const next = this.ownerNext[slot]!;
    if (prev === NONE) list.head = next;
    else this.ownerNext[prev] = next;
    if (next === NONE) list.tail = prev;
    else this.ownerPrev[next] = prev;
    list.count -= 1;
  }

  /** Slots of all orders (no segments) in ascending order id. For snapshots; O(n log n). */
  orderSlots(): number[] {
    const slots: number[] = [];
    for (let slot = 0; slot < this.used; slot++) {
      if (this.ids[slot]! > 0) slots.push(slot);
    }
    return slots.sort((a, b) => this.ids[a]! - this.ids[b]!);
  }

  private take(): number {
    let slot = this.free;
    if (slot !== NONE) {
      this.free = this.nextColumn[slot]!;
    } else {
      if (this.used === this.capacity) this.grow();
      slot = this.used++;
    }
    this.nextColumn[slot] = NONE;
    this.prevColumn[slot] = NONE;
    this.levels[slot] = NONE;
    this.ownerNext[slot] = NONE;
    this.ownerPrev[slot] = NONE;
    this.liveCount += 1;
    return slot;
  }

  private grow(): void {
    const capacity = this.capacity * 2;
    this.capacity = capacity;
    this.ids = grownFloats(this.ids, capacity);
    this.lotsColumn = grownFloats(this.lotsColumn, capacity);
    this.leftColumn = grownFloats(this.leftColumn, capacity);
    this.nonces = grownBigs(this.nonces, capacity);
    this.expiries = grownBigs(this.expiries, capacity);
    this.nonceWords = new Int32Array(this.nonces.buffer);
    this.expiryWords = new Int32Array(this.expiries.buffer);
    this.created = grownFloats(this.created, capacity);
    this.updated = grownFloats(this.updated, capacity);
    this.seqs = grownFloats(this.seqs, capacity);
    this.subaccounts = grownInts(this.subaccounts, capacity);
    this.markets = grownShorts(this.markets, capacity);
    this.prices = grownInts(this.prices, capacity);
    this.flags = grownBytes(this.flags, capacity);
    this.types = grownBytes(this.types, capacity);
    this.statuses = grownBytes(this.statuses, capacity);
    this.reasons = grownBytes(this.reasons, capacity);
    this.nextColumn = grownInts(this.nextColumn, capacity);
    this.prevColumn = grownInts(this.prevColumn, capacity);
    this.levels = grownInts(this.levels, capacity);
    this.ownerNext = grownInts(this.ownerNext, capacity);
    this.ownerPrev = grownInts(this.ownerPrev, capacity);
  }
}

/** What few orders have. */
interface OrderExtras {
  readonly delegate: AccountId | null;
  readonly originator: Address | null;
  readonly originatorFeePpm: Ppm;
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

function grownFloats(old: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(capacity);
  larger.set(old);
  return larger;
}

function grownInts(old: Int32Array<ArrayBuffer>, capacity: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(capacity);
  larger.set(old);
  return larger;
}

function grownBigs(old: BigInt64Array<ArrayBuffer>, capacity: number): BigInt64Array<ArrayBuffer> {
  const larger = new BigInt64Array(capacity);
  larger.set(old);
  return larger;
}

function grownShorts(old: Uint16Array<ArrayBuffer>, capacity: number): Uint16Array<ArrayBuffer> {
  const larger = new Uint16Array(capacity);
  larger.set(old);
  return larger;
}

function grownBytes(old: Uint8Array<ArrayBuffer>, capacity: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(capacity);
  larger.set(old);
  return larger;
}
