/**
 * Sums of the resting orders of one exposure that are not reduce-only, for the exact margin rules
 * their lots by price, and their fees, each order's rounded up. Admission reads the
 * sums, so its cost does not depend on the number of orders.
 *
 * They are derived and start late: with the first exact check of their subaccount, or with its
 * `MANY`-th order. From then on every change of a resting order updates them, so one account makes
 * the exchange walk its orders once, and at most `MANY` of them after a restart.
 *
 * Changes are noted in a list, and taken over when a sum is read or the list is full. An account
 * far from its limit is never read. When its list is full, one pass brings the prices of its orders
 * into the cache for all changes of the list.
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

/** Changes of a full list. */
const MOST_NOTED = 256;
/** A noted change: price × side, lots before and after it, and the originator's rate. */
const BEFORE = 1;
const AFTER = 2;
const RATE = 3;
const FIELDS = 4;

export class RestingSums {
  /** The maker rate in the fees; the market's terms may have changed since. */
  makerPpm: number;
  /** Number of changes. */
  changes = 0;
  /** Trees in the pool, and maker and originator fees of all orders: without `noted`. */
  private bidTree = NO_TREE;
  private askTree = NO_TREE;
  private feeSum = NO_MONEY;
  private noted = new Float64Array(FIELDS);
  /** Numbers in use of `noted`. */
  private notedEnd = 0;
  private readonly pool: PriceSums;
  private readonly unit: number;

  constructor(pool: PriceSums, unit: number, makerPpm: number) {
    this.pool = pool;
    this.unit = unit;
    this.makerPpm = makerPpm;
  }

  /** Trees in the pool. */
  get bids(): number {
    this.settle();
    return this.bidTree;
  }
  get asks(): number {
    this.settle();
    return this.askTree;
  }

  /** Maker and originator fees of all orders. */
  get fees(): Money {
    this.settle();
    return this.feeSum;
  }

  /** An order has `after` unfilled lots on the book instead of `before`. */
  note(side: 1 | -1, price: PriceTicks, before: number, after: number, ratePpm: number): void {
    if (before === after) return;
    this.changes += 1;
    if (this.notedEnd === this.noted.length) this.makeRoom();
    const { noted, notedEnd: at } = this;
    noted[at] = price * side;
    noted[at + BEFORE] = before;
    noted[at + AFTER] = after;
    noted[at + RATE] = ratePpm;
    this.notedEnd = at + FIELDS;
  }

  /** Sums the fees of all orders at another maker rate. */
  takeRate(makerPpm: number, orders: Iterable<Resting>): void {
    this.settle();
    this.makerPpm = makerPpm;
    this.changes += 1;
    this.feeSum = NO_MONEY;
    for (const { left, price, originatorFeePpm } of orders) {
      this.feeSum = plus(this.feeSum, this.feeOf(left, price, originatorFeePpm));
    }
  }

  /** Fees after `by` of the order's lots are filled, less those before; ≤ 0. */
  feeChange({ left, price, originatorFeePpm }: Resting, by: number): Money {
    const before = this.feeOf(left, price, originatorFeePpm);
    return minus(this.feeOf(left - by, price, originatorFeePpm), before);
  }

  /** The fee of filling lots of an order. */
  private feeOf(size: number, price: PriceTicks, originatorFeePpm: number): Money {
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

  private makeRoom(): void {
    if (this.notedEnd === MOST_NOTED * FIELDS) {
      this.settle();
      return;
    }
    const old = this.noted;
    this.noted = new Float64Array(old.length * 2);
    this.noted.set(old);
  }

  /** Takes over the noted changes. */
  private settle(): void {
    const { noted, notedEnd, pool } = this;
    if (notedEnd === 0) return;
    this.notedEnd = 0;
    for (let at = 0; at < notedEnd; at += FIELDS) {
      const signed = noted[at] ?? 0;
      const price = Math.abs(signed) as PriceTicks;
      const before = noted[at + BEFORE] ?? 0;
      const after = noted[at + AFTER] ?? 0;
      const rate = noted[at + RATE] ?? 0;
      this.feeSum = plus(this.feeSum, this.feeOf(after, price, rate));
      this.feeSum = minus(this.feeSum, this.feeOf(before, price, rate));
      const tree = signed > 0 ? this.bidTree : this.askTree;
      const changed =
        after > before
          ? pool.add(tree, price, after - before)
          : pool.remove(tree, price, before - after);
      if (signed > 0) this.bidTree = changed;
      else this.askTree = changed;
    }
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
