/**
 * Orders as rows in one buffer: 96 bytes an order, no objects. A row is two cache lines, where a column each would touch
 * twenty. The live orders are one such table (order-table), the ended ones are pages of them (ended-orders).
 *
 * Invariant: 0 ≤ left ≤ |lots|; `lots` and `left` are whole lots, settled = lots − side × left.
 *
 * What few orders have is kept beside the rows: clientIds (client-ids), and delegates, originators and specials in a map.
 */
import { codeOf } from '../../base/code-of.ts';
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
import { ClientIds } from './client-ids.ts';
import type { RowFilter } from './row-tags.ts';

/** Id of a row that is not in use. */
export const FREE = -1;
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

/** Flags, in the low bits of the state word. */
export const IOC = 1;
export const POST_ONLY = 2;
export const REDUCE_ONLY = 4;
export const HOUSE = 8;
export const RESTING = 16;
/** The order has a row in `extras`. */
export const EXTRA = 32;
/** The order has a timer for its expiry. */
export const EXPIRES = 64;
/** The order is in the index. */
export const INDEXED = 128;
/** The order waits for its trigger, its time or its turn. */
export const WAITING = 256;
/** Above them type, status and reason (0 for none). */
export const TYPE_SHIFT = 10;
const STATUS_SHIFT = 13;
const REASON_SHIFT = 16;
const CODE = 7;
/** The state word without status and reason. */
const LASTING = (1 << STATUS_SHIFT) - 1;

/** A row: 12 doubles, or 24 words. Places of the doubles and 64-bit integers, then of the words. */
export const FLOATS = 12;
export const INTS = 24;
export const ROW_BYTES = 96;
export const ID = 0;
export const LOTS = 1;
export const LEFT = 2;
export const CREATED = 3;
export const UPDATED = 4;
export const SEQ = 5;
/** 64-bit integers: their bits may not survive a copy as doubles. */
export const NONCE = 6;
export const EXPIRY = 7;
export const SUBACCOUNT = 16;
export const MARKET = 17;
export const PRICE = 18;
export const STATE = 19;
/** From here on links, which belong to one table: queue links of the order book, and the owner's list. */
export const LINKS = 20;
export const NEXT = 20;
export const PREV = 21;
export const OWNER_NEXT = 22;
export const OWNER_PREV = 23;

/** What few orders have. */
export interface OrderExtras {
  readonly delegate: AccountId | null;
  readonly originator: Address | null;
  readonly originatorFeePpm: Ppm;
  readonly special: Special | null;
}

export class OrderRows {
  /** Rows one after the other, seen as doubles, as 32-bit and as 64-bit integers. */
  floats: Float64Array<ArrayBuffer>;
  ints: Int32Array<ArrayBuffer>;
  bigs: BigInt64Array<ArrayBuffer>;
  readonly clientIds: ClientIds;
  /** By row; rare, so kept beside the rows. */
  readonly extras = new Map<number, OrderExtras>();

  constructor(rows: number, clientIdCells: number) {
    const buffer = new ArrayBuffer(rows * ROW_BYTES);
    this.floats = new Float64Array(buffer);
    this.ints = new Int32Array(buffer);
    this.bigs = new BigInt64Array(buffer);
    this.clientIds = new ClientIds(clientIdCells);
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
    return ORDER_STATUSES[(this.ints[row * INTS + STATE]! >> STATUS_SHIFT) & CODE]!;
  }
  reason(row: number): EndReason | null {
    const code = this.ints[row * INTS + STATE]! >> REASON_SHIFT;
    return code === 0 ? null : END_REASONS[code - 1]!;
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
  /** What makes the order more than a plain limit; null for most. */
  special(row: number): Special | null {
    return this.extrasOf(row)?.special ?? null;
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
    this.ints[row * INTS + STATE] =
      (this.ints[row * INTS + STATE]! & LASTING) |
      (codeOf(ORDER_STATUSES, status) << STATUS_SHIFT) |
      ((reason === null ? 0 : codeOf(END_REASONS, reason) + 1) << REASON_SHIFT);
  }
  touch(row: number, nowUs: TimeUs, seq: Seq): void {
    this.floats[row * FLOATS + UPDATED] = nowUs;
    this.floats[row * FLOATS + SEQ] = seq;
  }
  setSpecial(row: number, special: Special): void {
    const extras = this.extrasOf(row);
    this.ints[row * INTS + STATE] = this.ints[row * INTS + STATE]! | EXTRA;
    this.extras.set(row, {
      delegate: extras?.delegate ?? null,
      originator: extras?.originator ?? null,
      originatorFeePpm: extras?.originatorFeePpm ?? (0 as Ppm),
      special,
    });
  }

  extrasOf(row: number): OrderExtras | undefined {
    return (this.ints[row * INTS + STATE]! & EXTRA) === 0 ? undefined : this.extras.get(row);
  }

  /** Type, status and market in one word, for `RowTags`. */
  tagOf(row: number): number {
    return (
      ((this.ints[row * INTS + STATE]! >> TYPE_SHIFT) & 0x3f) |
      (this.ints[row * INTS + MARKET]! << 6)
    );
  }

  /** Whether the order is one of those a reader asks for; as many rows as there are may be asked. */
  matches(row: number, filter: RowFilter): boolean {
    const { floats, ints } = this;
    const state = ints[row * INTS + STATE]!;
    return (
      ints[row * INTS + SUBACCOUNT] === filter.subaccount &&
      (filter.types & (1 << ((state >> TYPE_SHIFT) & CODE))) !== 0 &&
      (filter.statuses & (1 << ((state >> STATUS_SHIFT) & CODE))) !== 0 &&
      (filter.market === null || ints[row * INTS + MARKET] === filter.market) &&
      // Times lie in the row's other cache line, which most readers can do without.
      (!filter.timed ||
        (floats[row * FLOATS + CREATED]! >= filter.createdFromUs &&
          floats[row * FLOATS + CREATED]! < filter.createdToUs &&
          floats[row * FLOATS + UPDATED]! >= filter.updatedFromUs &&
          floats[row * FLOATS + UPDATED]! < filter.updatedToUs))
    );
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
