/**
 * Sums of the resting orders of one exposure that are not reduce-only, for the exact margin rules
 * their lots by price, and their fees, each order's rounded up. Admission reads the
 * sums, so its cost does not depend on the number of orders.
 *
 * They are derived and start late: with the first exact check of their subaccount, or with its
 * `MANY`-th order. From then on every change of a resting order updates them, so one account makes
 * the exchange walk its orders once, and at most `MANY` of them after a restart.
 *
 * Invariant (`restingSums`): they equal the sums over the orders of the subaccount.
 */
import { bigOf } from '../../num/arithmetic.ts';
import { ppm, type PriceTicks } from '../../num/units.ts';
import { feeOfFill } from '../accounts/fees.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { Market } from '../market/market.ts';
import { NO_TREE, type PriceSums } from './price-sums.ts';

/** Number of orders of a subaccount from which its sums are kept before they are needed. */
const MANY = 4096;
const BIG_WORD = 0x100000000n;

/** A resting order: its lots are those before a change. */
interface Resting {
  readonly side: 1 | -1;
  readonly price: PriceTicks;
  readonly left: number;
  readonly originatorFeePpm: number;
}

export class RestingSums {
  /** Trees in the pool. */
  bids = NO_TREE;
  asks = NO_TREE;
  /** Maker and originator fees of all orders. */
  fees = 0n;
  /** The maker rate in `fees`; the market's terms may have changed since. */
  makerPpm: number;
  /** Number of changes. */
  changes = 0;
  private readonly pool: PriceSums;
  private readonly unit: number;

  constructor(pool: PriceSums, market: Market) {
    this.pool = pool;
    this.unit = market.spec.quantaPerTickLot;
    this.makerPpm = makerPpmOf(market);
  }

  /** The order joins the book with its lots. */
  add(order: Resting): void {
    if (order.left === 0) return;
    this.changes += 1;
    this.fees += this.feeOf(order, order.left);
    if (order.side > 0) this.bids = this.pool.add(this.bids, order.price, order.left);
    else this.asks = this.pool.add(this.asks, order.price, order.left);
  }

  /** Removes `by` of the order's lots. */
  reduce(order: Resting, by: number): void {
    if (by === 0) return;
    this.changes += 1;
    this.fees += this.feeOf(order, order.left - by) - this.feeOf(order, order.left);
    if (order.side > 0) this.bids = this.pool.remove(this.bids, order.price, by);
    else this.asks = this.pool.remove(this.asks, order.price, by);
  }

  /** The fee of filling `size` lots of the order. */
  feeOf({ price, originatorFeePpm }: Resting, size: number): bigint {
    return feeOfFill(size, price, this.unit, ppm(this.makerPpm + originatorFeePpm));
  }

  /** Σ max(0, side × (limit − mark)) × lots, in Quanta. */
  loss(mark: PriceTicks): bigint {
    return this.valueAbove(this.bids, mark) + this.valueBelow(this.asks, mark);
  }

  /** Σ lots × max(limit, mark) of one side, in Quanta. */
  heldValue(side: 1 | -1, mark: PriceTicks): bigint {
    const tree = side > 0 ? this.bids : this.asks;
    this.pool.sumAll(tree);
    const atMark = this.times(BigInt(this.pool.foundLots) * BigInt(mark));
    return atMark + this.valueAbove(tree, mark);
  }

  /** Σ (limit − mark) × lots over limits above the mark. */
  private valueAbove(tree: number, mark: PriceTicks): bigint {
    if (tree === NO_TREE) return 0n;
    const { pool } = this;
    pool.sumAbove(tree, mark);
    if (pool.foundLots === 0) return 0n;
    return this.times(foundValue(pool) - BigInt(pool.foundLots) * BigInt(mark));
  }

  /** Σ (mark − limit) × lots over limits below the mark. */
  private valueBelow(tree: number, mark: PriceTicks): bigint {
    if (tree === NO_TREE) return 0n;
    const { pool } = this;
    pool.sumAbove(tree, mark - 1);
    const above = pool.foundLots;
    const valueAbove = foundValue(pool);
    pool.sumAll(tree);
    if (pool.foundLots === above) return 0n;
    const below = BigInt(pool.foundLots - above);
    return this.times(below * BigInt(mark) - (foundValue(pool) - valueAbove));
  }

  private times(tickLots: bigint): bigint {
    return tickLots * BigInt(this.unit);
  }
}

/** The value in the `found` fields of a pool. */
function foundValue({ foundHigh, foundLow }: PriceSums): bigint {
  const value = foundHigh * 0x100000000 + foundLow;
  return Number.isSafeInteger(value)
    ? bigOf(value)
    : BigInt(foundHigh) * BIG_WORD + BigInt(foundLow);
}

function makerPpmOf(market: Market): number {
  return Math.max(market.spec.makerFeePpm, 0);
}

/** The sums of an exposure at the market's present rates; null while it has no such orders. */
export function restingSums(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
): RestingSums | null {
  if (!subaccount.sumsOrders) startSums(state, subaccount);
  const sums = exposure.resting;
  if (sums === null) return null;
  if (sums.makerPpm !== makerPpmOf(market)) takeRate(state, subaccount, sums, market);
  return sums;
}

/** The slot has joined the book. */
export function noteRested(state: ExchangeState, slot: number, exposure: Exposure): void {
  const subaccount = state.subaccount(exposure.subaccount);
  if (subaccount.sumsOrders) {
    exposure.resting ??= new RestingSums(state.restingPrices, state.market(exposure.market));
    exposure.resting.add(restingOf(state, slot));
  } else if (subaccount.orders.count >= MANY) startSums(state, subaccount);
}

/** Terms of the order in this slot. */
export function restingOf({ orders: table }: ExchangeState, slot: number): Resting {
  return {
    side: table.side(slot),
    price: table.price(slot),
    left: table.left(slot),
    originatorFeePpm: table.originatorFeePpm(slot),
  };
}

/** Sums all resting orders of the subaccount; from now on each change updates the sums. */
function startSums(state: ExchangeState, subaccount: Subaccount): void {
  subaccount.sumsOrders = true;
  eachSummed(state, subaccount, (slot) => {
    const market = state.market(state.orders.market(slot));
    const exposure = subaccount.exposure(market.id);
    exposure.resting ??= new RestingSums(state.restingPrices, market);
    exposure.resting.add(restingOf(state, slot));
  });
}

/** Fees at a new maker rate, after a change of the market's terms. */
function takeRate(
  state: ExchangeState,
  subaccount: Subaccount,
  sums: RestingSums,
  market: Market,
): void {
  sums.makerPpm = makerPpmOf(market);
  sums.fees = 0n;
  sums.changes += 1;
  eachSummed(state, subaccount, (slot) => {
    if (state.orders.market(slot) !== market.id) return;
    const order = restingOf(state, slot);
    sums.fees += sums.feeOf(order, order.left);
  });
}

/** Visits the subaccount's resting orders that are not reduce-only. */
export function eachSummed(
  { orders: table }: ExchangeState,
  subaccount: Subaccount,
  visit: (slot: number) => void,
): void {
  for (let slot = subaccount.orders.head; slot !== NONE; slot = table.nextOfOwner(slot)) {
    if (table.isResting(slot) && !table.isReduceOnly(slot)) visit(slot);
  }
}
