/**
 * Orders as rows of one buffer: 96 bytes per order, no objects. A row spans two cache lines;
 * separate columns would touch twenty. Live orders are one such table (order-table), ended ones are
 * pages of rows (ended-orders).
 *
 * Invariant: 0 ≤ left ≤ |lots|; `lots` and `left` are whole lots, settled = lots − side × left.
 *
 * Rare fields are outside the rows: clientIds in client-ids, conditional terms in a map.
 */
import { codeOf, codesOf } from '../../base/code-of.ts';
import { RowValues } from '../../base/row-values.ts';
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
import type { CommandClock } from '../clock.ts';
import type { OrderTerms } from '../commands.ts';
import { END_REASONS, type EndReason } from '../refusals.ts';
import type { Special } from '../orders/conditional.ts';
import { ORDER_TYPES, type OrderType } from '../orders/order-types.ts';
import type { OrderStatus } from '../read/views.ts';
import { ClientIds } from './client-ids.ts';
import type { RowFilter } from './row-tags.ts';

/** Id of a free row. */
const FREE = -1;
/** No slot. */
export const NONE = -1;

export const ORDER_STATUSES = [
  'new',
  'partiallyFilled',
  'filled',
  'pending',
  'cancelled',
  'expired',
  'rejected',
] as const satisfies readonly OrderStatus[];

const { filled: FILLED, partiallyFilled: PARTIALLY_FILLED } = codesOf(ORDER_STATUSES);

/** Flags, in the low bits of the state word. */
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
/** The order is pending: it waits for its trigger, its time or its predecessor. */
const WAITING = 256;
/** Bits above the flags: type, status and reason (0 for none). */
const TYPE_SHIFT = 10;
const STATUS_SHIFT = 13;
const REASON_SHIFT = 16;
const CODE = 7;
/** The bits of the state word below status and reason. */
const LASTING = (1 << STATUS_SHIFT) - 1;

/**
 * A row: 12 doubles, or 24 words. Indices of the doubles and 64-bit integers, then of the words.
 */
export const FLOATS = 12;
const INTS = 24;
export const ROW_BYTES = 96;
const ID = 0;
const LOTS = 1;
const LEFT = 2;
const CREATED = 3;
const UPDATED = 4;
const SEQ = 5;
/** 64-bit integers: their bits may not survive a copy as doubles. */
const NONCE = 6;
const EXPIRY = 7;
const SUBACCOUNT = 16;
const MARKET = 17;
const PRICE = 18;
const STATE = 19;
/** Links follow; they are valid in one table: queue links of the book, and the owner's list. */
const NEXT = 20;
const PREV = 21;
const OWNER_NEXT = 22;
const OWNER_PREV = 23;

/** Fields that few orders have. */
export interface OrderExtras {
  readonly delegate: AccountId | null;
  readonly originator: Address | null;
  readonly originatorFeePpm: Ppm;
  readonly conditional: Special | null;
}

export class OrderRows {
  /** Consecutive rows, viewed as doubles, 32-bit and 64-bit integers. */
  floats: Float64Array<ArrayBuffer>;
  ints: Int32Array<ArrayBuffer>;
  bigs: BigInt64Array<ArrayBuffer>;
  words: Uint32Array<ArrayBuffer>;
  readonly clientIds: ClientIds;
  readonly extras = new RowValues<OrderExtras>();

  constructor(rows: number, clientIdCells: number) {
    const buffer = new ArrayBuffer(rows * ROW_BYTES);
    this.floats = new Float64Array(buffer);
    this.ints = new Int32Array(buffer);
    this.bigs = new BigInt64Array(buffer);
    this.words = new Uint32Array(buffer);
    this.clientIds = new ClientIds(clientIdCells);
  }

  /** Initialises the row as an order. */
  fill(row: number, id: OrderId, terms: OrderTerms, clock: CommandClock): void {
    const { floats, bigs } = this;
    const at = row * FLOATS;
    floats[at + ID] = id;
    floats[at + LOTS] = terms.lots;
    floats[at + LEFT] = Math.abs(terms.lots);
    floats[at + CREATED] = clock.nowUs;
    floats[at + UPDATED] = clock.nowUs;
    floats[at + SEQ] = clock.seq;
    bigs[at + NONCE] = terms.nonce;
    bigs[at + EXPIRY] = terms.expiresAtMs;
    const extra = terms.originator !== null || terms.delegate !== null;
    this.setWords(
      row,
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
    if (terms.clientId !== null) this.clientIds.set(row, terms.clientId);
    if (extra) {
      this.extras.set(row, {
        delegate: terms.delegate,
        originator: terms.originator,
        originatorFeePpm: terms.originatorFeePpm,
        conditional: null,
      });
    }
  }

  /** Initialises the row as a segment: id 0, no terms. */
  fillSegment(
    row: number,
    subaccount: SubaccountId,
    market: MarketId,
    lots: Lots,
    price: PriceTicks,
  ): void {
    this.floats[row * FLOATS + ID] = 0;
    this.floats[row * FLOATS + LOTS] = lots;
    this.floats[row * FLOATS + LEFT] = Math.abs(lots);
    this.setWords(row, subaccount, market, price, HOUSE);
  }

  /** Initialises the row as a copy of an ended order, without links. */
  fillEnded(row: number, from: OrderRows, source: number): void {
    const { floats, ints } = this;
    const fromFloats = from.floats;
    const fromInts = from.ints;
    const to = row * FLOATS;
    const start = source * FLOATS;
    floats[to + ID] = fromFloats[start + ID]!;
    floats[to + LOTS] = fromFloats[start + LOTS]!;
    floats[to + LEFT] = fromFloats[start + LEFT]!;
    floats[to + CREATED] = fromFloats[start + CREATED]!;
    floats[to + UPDATED] = fromFloats[start + UPDATED]!;
    floats[to + SEQ] = fromFloats[start + SEQ]!;
    const toWords = row * INTS;
    const startWords = source * INTS;
    ints[toWords + 2 * NONCE] = fromInts[startWords + 2 * NONCE]!;
    ints[toWords + 2 * NONCE + 1] = fromInts[startWords + 2 * NONCE + 1]!;
    ints[toWords + 2 * EXPIRY] = fromInts[startWords + 2 * EXPIRY]!;
    ints[toWords + 2 * EXPIRY + 1] = fromInts[startWords + 2 * EXPIRY + 1]!;
    ints[toWords + SUBACCOUNT] = fromInts[startWords + SUBACCOUNT]!;
    ints[toWords + MARKET] = fromInts[startWords + MARKET]!;
    ints[toWords + PRICE] = fromInts[startWords + PRICE]!;
    const state = fromInts[startWords + STATE]! & ~(RESTING | EXPIRES | INDEXED | WAITING);
    ints[toWords + STATE] = state;
    const clientId = from.clientIds.get(source);
    if (clientId !== null) this.clientIds.set(row, clientId);
    const extras = (state & EXTRA) === 0 ? undefined : from.extras.get(source);
    if (extras !== undefined) this.extras.set(row, extras);
  }

  /** Frees the row. */
  empty(row: number): void {
    this.floats[row * FLOATS + ID] = FREE;
    this.clientIds.clear(row);
    if ((this.ints[row * INTS + STATE]! & EXTRA) !== 0) this.extras.delete(row);
  }

  id(row: number): OrderId {
    return this.floats[row * FLOATS + ID]! as OrderId;
  }
  lots(row: number): Lots {
    return this.floats[row * FLOATS + LOTS]! as Lots;
  }
  /** Unfilled size, ≥ 0. */
  left(row: number): number {
    return this.floats[row * FLOATS + LEFT]!;
  }
  /** 1 for a bid, −1 for an ask. */
  side(row: number): 1 | -1 {
    return this.floats[row * FLOATS + LOTS]! > 0 ? 1 : -1;
  }
  /** Unfilled part with the order's sign; never −0. */
  remaining(row: number): Lots {
    const left = this.floats[row * FLOATS + LEFT]!;
    return (this.floats[row * FLOATS + LOTS]! > 0 || left === 0 ? left : -left) as Lots;
  }
  settled(row: number): Lots {
    return (this.floats[row * FLOATS + LOTS]! - this.remaining(row)) as Lots;
  }
  subaccount(row: number): SubaccountId {
    return this.ints[row * INTS + SUBACCOUNT]! as SubaccountId;
  }
  market(row: number): MarketId {
    return this.ints[row * INTS + MARKET]! as MarketId;
  }
  price(row: number): PriceTicks {
    return this.ints[row * INTS + PRICE]! as PriceTicks;
  }
  isHouse(row: number): boolean {
    return (this.ints[row * INTS + STATE]! & HOUSE) !== 0;
  }
  isReduceOnly(row: number): boolean {
    return (this.ints[row * INTS + STATE]! & REDUCE_ONLY) !== 0;
  }
  isIoc(row: number): boolean {
    return (this.ints[row * INTS + STATE]! & IOC) !== 0;
  }
  isPostOnly(row: number): boolean {
    return (this.ints[row * INTS + STATE]! & POST_ONLY) !== 0;
  }
  /** Whether the order has a timer for its expiry. */
  hasTimer(row: number): boolean {
    return (this.ints[row * INTS + STATE]! & EXPIRES) !== 0;
  }
  /** Whether the order is in the queue of a level. */
  isResting(row: number): boolean {
    return (this.ints[row * INTS + STATE]! & RESTING) !== 0;
  }
  isWaiting(row: number): boolean {
    return (this.ints[row * INTS + STATE]! & WAITING) !== 0;
  }
  nonce(row: number): bigint {
    return this.bigs[row * FLOATS + NONCE]!;
  }
  /** The pair of `words` that is the nonce; the expiry is the next one. */
  widePair(row: number): number {
    return row * FLOATS + NONCE;
  }
  expiresAtMs(row: number): bigint {
    return this.bigs[row * FLOATS + EXPIRY]!;
  }
  createdAtUs(row: number): TimeUs {
    return this.floats[row * FLOATS + CREATED]! as TimeUs;
  }
  updatedAtUs(row: number): TimeUs {
    return this.floats[row * FLOATS + UPDATED]! as TimeUs;
  }
  lastUpdateSeq(row: number): Seq {
    return this.floats[row * FLOATS + SEQ]! as Seq;
  }
  orderType(row: number): OrderType {
    return ORDER_TYPES[(this.ints[row * INTS + STATE]! >> TYPE_SHIFT) & CODE]!;
  }
  status(row: number): OrderStatus {
    return ORDER_STATUSES[this.statusCode(row)]!;
  }
  reason(row: number): EndReason | null {
    const code = this.reasonCode(row);
    return code === 0 ? null : END_REASONS[code - 1]!;
  }
  /** Index of the status in `ORDER_STATUSES`. */
  statusCode(row: number): number {
    return (this.ints[row * INTS + STATE]! >> STATUS_SHIFT) & CODE;
  }
  /** 0 for no reason, otherwise its index in `END_REASONS` + 1. */
  reasonCode(row: number): number {
    return this.ints[row * INTS + STATE]! >> REASON_SHIFT;
  }
  delegate(row: number): AccountId | null {
    return this.extrasOf(row)?.delegate ?? null;
  }
  clientId(row: number): string | null {
    return this.clientIds.get(row);
  }
  originator(row: number): Address | null {
    return this.extrasOf(row)?.originator ?? null;
  }
  originatorFeePpm(row: number): Ppm {
    return this.extrasOf(row)?.originatorFeePpm ?? (0 as Ppm);
  }
  /** Terms beyond those of a plain limit order; null for most orders. */
  conditional(row: number): Special | null {
    return this.extrasOf(row)?.conditional ?? null;
  }

  /** Whether the order is in the index. */
  isIndexed(row: number): boolean {
    return (this.ints[row * INTS + STATE]! & INDEXED) !== 0;
  }

  setIndexed(row: number): void {
    this.ints[row * INTS + STATE] = this.ints[row * INTS + STATE]! | INDEXED;
  }
  setTimer(row: number): void {
    this.ints[row * INTS + STATE] = this.ints[row * INTS + STATE]! | EXPIRES;
  }
  setResting(row: number, resting: boolean): void {
    const state = this.ints[row * INTS + STATE]!;
    this.ints[row * INTS + STATE] = resting ? state | RESTING : state & ~RESTING;
  }
  setWaiting(row: number, waiting: boolean): void {
    const state = this.ints[row * INTS + STATE]!;
    this.ints[row * INTS + STATE] = waiting ? state | WAITING : state & ~WAITING;
  }
  setStatus(row: number, status: OrderStatus, reason: EndReason | null): void {
    // Most orders end filled: no search of the list for them.
    const code = status === 'filled' ? FILLED : codeOf(ORDER_STATUSES, status);
    this.ints[row * INTS + STATE] =
      (this.ints[row * INTS + STATE]! & LASTING) |
      (code << STATUS_SHIFT) |
      ((reason === null ? 0 : codeOf(END_REASONS, reason) + 1) << REASON_SHIFT);
  }
  /** After a fill, which has reduced the unfilled size: filled or partly filled, changed now. */
  noteFilled(row: number, clock: CommandClock): void {
    const code = this.floats[row * FLOATS + LEFT] === 0 ? FILLED : PARTIALLY_FILLED;
    this.ints[row * INTS + STATE] =
      (this.ints[row * INTS + STATE]! & LASTING) | (code << STATUS_SHIFT);
    this.markBookChanged(row, clock);
  }
  markBookChanged(row: number, clock: CommandClock): void {
    this.floats[row * FLOATS + UPDATED] = clock.nowUs;
    this.floats[row * FLOATS + SEQ] = clock.seq;
  }
  setSpecial(row: number, conditional: Special): void {
    const extras = this.extrasOf(row);
    this.ints[row * INTS + STATE] = this.ints[row * INTS + STATE]! | EXTRA;
    this.extras.set(row, {
      delegate: extras?.delegate ?? null,
      originator: extras?.originator ?? null,
      originatorFeePpm: extras?.originatorFeePpm ?? (0 as Ppm),
      conditional,
    });
  }

  extrasOf(row: number): OrderExtras | undefined {
    return (this.ints[row * INTS + STATE]! & EXTRA) === 0 ? undefined : this.extras.get(row);
  }

  setCreated(row: number, nowUs: TimeUs): void {
    this.floats[row * FLOATS + CREATED] = nowUs;
  }
  /** Subtracts filled or withdrawn size. */
  reduce(row: number, by: number): void {
    this.floats[row * FLOATS + LEFT] = this.floats[row * FLOATS + LEFT]! - by;
  }
  /** Moves a house segment to another price, with another size. */
  moveSegment(row: number, price: PriceTicks, size: number): void {
    this.floats[row * FLOATS + LEFT] = size;
    this.ints[row * INTS + PRICE] = price;
  }
  /** Grows a house segment in place, while it is the last of its queue. */
  growSegment(row: number, by: number): void {
    this.floats[row * FLOATS + LEFT] = this.floats[row * FLOATS + LEFT]! + by;
  }

  next(row: number): number {
    return this.ints[row * INTS + NEXT]!;
  }
  prev(row: number): number {
    return this.ints[row * INTS + PREV]!;
  }
  setNext(row: number, next: number): void {
    this.ints[row * INTS + NEXT] = next;
  }
  setPrev(row: number, prev: number): void {
    this.ints[row * INTS + PREV] = prev;
  }

  nextOfOwner(row: number): number {
    return this.ints[row * INTS + OWNER_NEXT]!;
  }
  prevOfOwner(row: number): number {
    return this.ints[row * INTS + OWNER_PREV]!;
  }
  setNextOfOwner(row: number, next: number): void {
    this.ints[row * INTS + OWNER_NEXT] = next;
  }
  setPrevOfOwner(row: number, prev: number): void {
    this.ints[row * INTS + OWNER_PREV] = prev;
  }

  /** Appends the row to its owner's list. */
  linkOwner(list: OwnerList, row: number): void {
    this.ints[row * INTS + OWNER_PREV] = list.tail;
    this.ints[row * INTS + OWNER_NEXT] = NONE;
    if (list.tail === NONE) list.head = row;
    else this.ints[list.tail * INTS + OWNER_NEXT] = row;
    list.tail = row;
    list.count += 1;
  }

  unlinkOwner(list: OwnerList, row: number): void {
    const prev = this.ints[row * INTS + OWNER_PREV]!;
    const next = this.ints[row * INTS + OWNER_NEXT]!;
    if (prev === NONE) list.head = next;
    else this.ints[prev * INTS + OWNER_NEXT] = next;
    if (next === NONE) list.tail = prev;
    else this.ints[next * INTS + OWNER_PREV] = prev;
    list.count -= 1;
  }

  /** Type, status and market in one word, for `RowTags`. */
  tagOf(row: number): number {
    return (
      ((this.ints[row * INTS + STATE]! >> TYPE_SHIFT) & 0x3f) |
      (this.ints[row * INTS + MARKET]! << 6)
    );
  }

  /** Whether the order passes the filter; cheap enough to call for every row. */
  matches(row: number, filter: RowFilter): boolean {
    const { floats, ints } = this;
    const state = ints[row * INTS + STATE]!;
    return (
      ints[row * INTS + SUBACCOUNT] === filter.subaccount &&
      (filter.types & (1 << ((state >> TYPE_SHIFT) & CODE))) !== 0 &&
      (filter.statuses & (1 << ((state >> STATUS_SHIFT) & CODE))) !== 0 &&
      (filter.market === null || ints[row * INTS + MARKET] === filter.market) &&
      // Times are in the row's other cache line, which most queries skip.
      (!filter.timed ||
        (floats[row * FLOATS + CREATED]! >= filter.createdFromUs &&
          floats[row * FLOATS + CREATED]! < filter.createdToUs &&
          floats[row * FLOATS + UPDATED]! >= filter.updatedFromUs &&
          floats[row * FLOATS + UPDATED]! < filter.updatedToUs))
    );
  }

  /** Initialises the words of a row, without links. */
  private setWords(
    row: number,
    subaccount: number,
    market: number,
    price: number,
    state: number,
  ): void {
    const { ints } = this;
    const at = row * INTS;
    ints[at + SUBACCOUNT] = subaccount;
    ints[at + MARKET] = market;
    ints[at + PRICE] = price;
    ints[at + STATE] = state;
    ints[at + NEXT] = NONE;
    ints[at + PREV] = NONE;
    ints[at + OWNER_NEXT] = NONE;
    ints[at + OWNER_PREV] = NONE;
  }
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
