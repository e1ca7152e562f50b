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
import {
  feeMoney,
  minus,
  NO_MONEY,
  notionalMoney,
  plus,
  times,
  wideMoney,
  type Money,
} from '../../num/money.ts';
import type { PriceTicks } from '../../num/units.ts';
import { NO_TREE, type PriceSums } from './price-sums.ts';

/** A resting order: its lots are those before a change. */
export interface Resting {
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
  fees = NO_MONEY;
  /** The maker rate in `fees`; the market's terms may have changed since. */
  makerPpm: number;
  /** Number of changes. */
  changes = 0;
  private readonly pool: PriceSums;
  private readonly unit: number;

  constructor(pool: PriceSums, unit: number, makerPpm: number) {
    this.pool = pool;
    this.unit = unit;
    this.makerPpm = makerPpm;
  }

  /** The order joins the book with its lots. */
  add(order: Resting): void {
    if (order.left === 0) return;
    this.changes += 1;
    this.fees = plus(this.fees, this.feeOf(order, order.left));
    if (order.side > 0) this.bids = this.pool.add(this.bids, order.price, order.left);
    else this.asks = this.pool.add(this.asks, order.price, order.left);
  }

  /** Removes `by` of the order's lots. */
  reduce(order: Resting, by: number): void {
    if (by === 0) return;
    this.changes += 1;
    this.fees = plus(this.fees, this.feeChange(order, by));
    if (order.side > 0) this.bids = this.pool.remove(this.bids, order.price, by);
    else this.asks = this.pool.remove(this.asks, order.price, by);
  }

  /** Fees after `by` of the order's lots are filled, less those before; ≤ 0. */
  feeChange(order: Resting, by: number): Money {
    return minus(this.feeOf(order, order.left - by), this.feeOf(order, order.left));
  }

  /** The fee of filling `size` lots of the order. */
  feeOf({ price, originatorFeePpm }: Resting, size: number): Money {
    return feeMoney(size, price, this.unit, this.makerPpm + originatorFeePpm);
  }

  /** Σ max(0, side × (limit − mark)) × lots, in Quanta. */
  loss(mark: PriceTicks): Money {
    return plus(this.valueAbove(this.bids, mark), this.valueBelow(this.asks, mark));
  }

  /** Σ lots × max(limit, mark) of one side, in Quanta. */
  heldValue(side: 1 | -1, mark: PriceTicks): Money {
    const tree = side > 0 ? this.bids : this.asks;
    if (tree === NO_TREE) return NO_MONEY;
    this.pool.sumAll(tree);
    const atMark = notionalMoney(this.pool.foundLots, mark, this.unit);
    return plus(atMark, this.valueAbove(tree, mark));
  }

  /** Σ (limit − mark) × lots over limits above the mark. */
  private valueAbove(tree: number, mark: PriceTicks): Money {
    if (tree === NO_TREE) return NO_MONEY;
    const { pool } = this;
    pool.sumAbove(tree, mark);
    if (pool.foundLots === 0) return NO_MONEY;
    return times(minus(foundValue(pool), notionalMoney(pool.foundLots, mark, 1)), this.unit);
  }

  /** Σ (mark − limit) × lots over limits below the mark. */
  private valueBelow(tree: number, mark: PriceTicks): Money {
    if (tree === NO_TREE) return NO_MONEY;
    const { pool } = this;
    pool.sumAbove(tree, mark - 1);
    const above = pool.foundLots;
    const valueAbove = foundValue(pool);
    pool.sumAll(tree);
    const below = pool.foundLots - above;
    if (below === 0) return NO_MONEY;
    const value = minus(foundValue(pool), valueAbove);
    return times(minus(notionalMoney(below, mark, 1), value), this.unit);
  }
}

/** The value in the `found` fields of a pool, in lots × ticks. */
function foundValue({ foundHigh, foundLow }: PriceSums): Money {
  return wideMoney(foundHigh, foundLow);
}
