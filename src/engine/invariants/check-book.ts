/**
 * Invariants of the book: not crossed, best first, level totals equal to queue sums, and no house
 * lots within reach of the square-root impact.
 */
import type { OrderBook } from '../book/order-book.ts';
import { NONE } from '../book/order-table.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { isWithinReach } from '../tape/reach.ts';

/** best bid < best ask. A bar without a spread may lock the house (tape/bar-quotes). */
export function uncrossedBook(state: ExchangeState): string | null {
  for (const { book, spec } of state.markets) {
    const bid = book.best(1);
    const ask = book.best(-1);
    if (bid === null || ask === null || bid.priceTicks < ask.priceTicks) continue;
    if (bid.priceTicks > ask.priceTicks || !isOfTheHouse(book)) {
      return `${spec.symbol}: bid ${String(bid.priceTicks)} ≥ ask ${String(ask.priceTicks)}`;
    }
  }
  return null;
}

/** Whether both best prices have house orders only. */
function isOfTheHouse(book: OrderBook): boolean {
  return [book.bids, book.asks].every((ladder) => {
    const level = ladder.bestLevel();
    return level === NO_LEVEL || ladder.houseTotal(level) === ladder.total(level);
  });
}

/** totals, house totals and counts equal those of the queue; every entry has size left. */
export function levelTotals(state: ExchangeState): string | null {
  const table = state.orders;
  for (const { book, spec } of state.markets) {
    for (const side of [1, -1] as const) {
      const ladder = book.ladder(side);
      for (let level = ladder.bestLevel(); level !== NO_LEVEL; level = ladder.nextLevel(level)) {
        let total = 0;
        let house = 0;
        let count = 0;
        for (let slot = ladder.head(level); slot !== NONE; slot = table.next(slot)) {
          if (table.left(slot) <= 0) return `${spec.symbol}: an entry without size in a queue`;
          if (table.side(slot) !== side) return `${spec.symbol}: an order on the wrong side`;
          total += table.left(slot);
          if (table.isHouse(slot)) house += table.left(slot);
          count += 1;
        }
        const price = String(ladder.price(level));
        if (total !== ladder.total(level)) return `${spec.symbol} ${price}: total`;
        if (house !== ladder.houseTotal(level)) return `${spec.symbol} ${price}: house total`;
        if (count === 0 || count !== ladder.queueLength(level)) {
          return `${spec.symbol} ${price}: queue length`;
        }
      }
    }
  }
  return null;
}

/** levels are sorted from the best price outward. */
export function levelOrder(state: ExchangeState): string | null {
  for (const { book, spec } of state.markets) {
    for (const side of [1, -1] as const) {
      const ladder = book.ladder(side);
      let last: number | null = null;
      for (let level = ladder.bestLevel(); level !== NO_LEVEL; level = ladder.nextLevel(level)) {
        const price = ladder.price(level);
        if (last !== null && side * (last - price) <= 0) {
          return `${spec.symbol}: level ${String(price)} behind ${String(last)}`;
        }
        last = price;
      }
    }
  }
  return null;
}

/** a level within reach has no house lots in the book. */
export function hiddenReach(state: ExchangeState): string | null {
  for (const market of state.markets) {
    const { book, impact, spec } = market;
    if (impact === null) continue;
    for (const side of [1, -1] as const) {
      const ladder = book.ladder(side);
      for (let level = ladder.bestLevel(); level !== NO_LEVEL; level = ladder.nextLevel(level)) {
        const price = ladder.price(level);
        if (ladder.houseTotal(level) > 0 && isWithinReach(state, market, impact, side, price)) {
          return `${spec.symbol} ${String(price)}: house lots within reach`;
        }
      }
    }
  }
  return null;
}
