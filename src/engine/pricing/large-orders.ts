/**
 * The lots of a side of the book without small orders of users: those that are worth less than
 * 1/256 of the impact notional. A premium sample uses them where all orders together exceed the
 * limits of a walk, so that many small orders do not end the samples (R-7.1, decision 0156).
 */
import { ceilDivBig } from '../../num/arithmetic.ts';
import { NONE } from '../book/order-table.ts';
import type { PriceLadder } from '../book/price-ladder.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { Market } from '../market/market.ts';
import type { FillableLots } from './fillable-lots.ts';

/** So many large orders give the notional. */
const PARTS = 256n;
/** A side with more small orders than this on the way is too thin. */
const MAX_SMALL = 16_384;

/** One walk along a side of a book, best price first. */
export class LargeOrders {
  private readonly state: ExchangeState;
  private readonly unit: number;
  private readonly fillable: FillableLots | null;
  private readonly least: bigint;
  private smallLeft = MAX_SMALL;

  /** @param fillable null: lots count whether a taker could fill them or not */
  constructor(state: ExchangeState, { spec }: Market, fillable: FillableLots | null) {
    this.state = state;
    this.unit = spec.quantaPerTickLot;
    this.fillable = fillable;
    this.least = ceilDivBig(spec.funding.impactNotional, PARTS);
  }

  /** Lots of the next level, at most `wanted`; null beyond a limit of orders. */
  take(ladder: PriceLadder, level: number, wanted: number): number | null {
    const { fillable } = this;
    const table = this.state.orders;
    let size = 0;
    for (let slot = ladder.head(level); slot !== NONE && size < wanted; slot = table.next(slot)) {
      const most = Math.min(table.left(slot), wanted - size);
      if (table.isHouse(slot)) {
        size += most;
      } else if (this.isSmall(slot)) {
        if (this.smallLeft === 0) return null;
        this.smallLeft -= 1;
      } else {
        const taken = fillable === null ? most : fillable.takeOrder(slot, most);
        if (taken === null) return null;
        size += taken;
      }
    }
    return size;
  }

  private isSmall(slot: number): boolean {
    const table = this.state.orders;
    const [lots, price] = [table.left(slot), table.price(slot)];
    const value = lots * price * this.unit;
    if (Number.isSafeInteger(value)) return value < this.least;
    return BigInt(lots) * BigInt(price) * BigInt(this.unit) < this.least;
  }
}
