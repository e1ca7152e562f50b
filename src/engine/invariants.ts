/**
 * What must hold after every command, as named predicates (DESIGN §9). Full scans, written to be obvious rather than
 * fast: run them after each command in tests, every so often in long runs.
 */
import { NONE } from './book/order-table.ts';
import { NO_LEVEL } from './book/price-ladder.ts';
import { legOver } from './orders/legs.ts';
import { liquidatable } from './risk/liquidation.ts';
import type { State } from './state.ts';
import type { InvariantViolation } from './views.ts';

export const INVARIANTS = {
  /** Σ cash + Σ isolated margin − Σ signed cost = deposits − withdrawals, to the last Quantum. */
  conservation(state: State): string | null {
    let cash = 0n;
    let cost = 0n;
    for (const subaccount of state.accounts.subaccounts) {
      cash += subaccount.cash;
      for (const exposure of subaccount.exposures) {
        cost += exposure?.costQuanta ?? 0n;
        cash += exposure?.marginQuanta ?? 0n;
      }
    }
    if (cash - cost === state.supply) return null;
    return `cash ${String(cash)} − cost ${String(cost)} ≠ supply ${String(state.supply)}`;
  },

  /** Σ signed lots = 0 in every market, and open interest is Σ of longs. */
  openInterest(state: State): string | null {
    for (const market of state.markets) {
      let sum = 0;
      let long = 0;
      for (const subaccount of state.accounts.subaccounts) {
        const position = subaccount.exposures[market.id]?.positionLots ?? 0;
        sum += position;
        if (position > 0) long += position;
      }
      if (sum !== 0) return `${market.spec.symbol}: positions sum to ${String(sum)} lots`;
      if (long !== market.openInterestLots) {
        return `${market.spec.symbol}: open interest ${String(market.openInterestLots)} ≠ ${String(long)}`;
      }
    }
    return null;
  },

  /** best bid < best ask. */
  uncrossedBook(state: State): string | null {
    for (const { book, spec } of state.markets) {
      const bid = book.best(1);
      const ask = book.best(-1);
      if (bid !== null && ask !== null && bid.priceTicks >= ask.priceTicks) {
        return `${spec.symbol}: bid ${String(bid.priceTicks)} ≥ ask ${String(ask.priceTicks)}`;
      }
    }
    return null;
  },

  /** Levels: totals, house totals and counts are those of their queues; every queue has something left in each place. */
  levelTotals(state: State): string | null {
    const table = state.orders;
    for (const { book, spec } of state.markets) {
      for (const side of [1, -1] as const) {
        const ladder = book.ladder(side);
        for (let level = ladder.bestLevel(); level !== NO_LEVEL; level = ladder.nextLevel(level)) {
          let total = 0;
          let house = 0;
          let count = 0;
          for (let slot = ladder.head(level); slot !== NONE; slot = table.next(slot)) {
            if (table.left(slot) <= 0) return `${spec.symbol}: an empty place in a queue`;
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
  },

  /** what margin counts of open orders is the sum of the resting orders. */
  openOrderSums(state: State): string | null {
    const table = state.orders;
    for (const subaccount of state.accounts.subaccounts) {
      const bids = new Map<number, number>();
      const asks = new Map<number, number>();
      const counts = new Map<number, number>();
      for (let slot = subaccount.orders.head; slot !== NONE; slot = table.nextOfOwner(slot)) {
        if (!table.isResting(slot)) continue;
        const market = table.market(slot);
        counts.set(market, (counts.get(market) ?? 0) + 1);
        if (table.isReduceOnly(slot)) continue;
        const sums = table.side(slot) > 0 ? bids : asks;
        sums.set(market, (sums.get(market) ?? 0) + table.left(slot));
      }
      for (const exposure of subaccount.exposures) {
        if (exposure === undefined) continue;
        const { market } = exposure;
        if (
          exposure.bidLots !== (bids.get(market) ?? 0) ||
          exposure.askLots !== (asks.get(market) ?? 0) ||
          exposure.openOrders !== (counts.get(market) ?? 0)
        ) {
          return `subaccount ${String(subaccount.id)} market ${String(market)}`;
        }
      }
    }
    return null;
  },

  /** waiting orders and live legs are as many as an exposure counts; a live order waits, rests, or is not there. */
  waitingOrders(state: State): string | null {
    const table = state.orders;
    for (const subaccount of state.accounts.subaccounts) {
      const waiting = new Map<number, number>();
      const legs = new Map<number, number>();
      for (let slot = subaccount.orders.head; slot !== NONE; slot = table.nextOfOwner(slot)) {
        const market = table.market(slot);
        if (table.isWaiting(slot) === table.isResting(slot)) {
          return `order ${String(table.id(slot))} must either wait or rest`;
        }
        if (table.isWaiting(slot)) waiting.set(market, (waiting.get(market) ?? 0) + 1);
        if (table.special(slot)?.leg === true) legs.set(market, (legs.get(market) ?? 0) + 1);
      }
      for (const exposure of subaccount.exposures) {
        if (exposure === undefined) continue;
        const { market } = exposure;
        if (
          exposure.waitingOrders !== (waiting.get(market) ?? 0) ||
          exposure.legs !== (legs.get(market) ?? 0)
        ) {
          return `subaccount ${String(subaccount.id)} market ${String(market)}`;
        }
      }
    }
    return null;
  },

  /** a pair never fills more than it protects, and no leg is kept that can protect nothing more. */
  legsCover(state: State): string | null {
    const table = state.orders;
    for (const slot of table.orderSlots()) {
      const leg = table.special(slot);
      if (leg?.leg !== true) continue;
      const exposure = state.subaccount(table.subaccount(slot)).exposures[table.market(slot)];
      if (exposure === undefined) return `order ${String(table.id(slot))} has no exposure`;
      if (legOver(table, slot, exposure) !== null) {
        return `order ${String(table.id(slot))} protects nothing`;
      }
      const filled = Math.abs(table.settled(slot)) + leg.siblingFilled;
      if (leg.parent !== null && filled > leg.parentSettled) {
        return `order ${String(table.id(slot))}: its pair filled more than its parent`;
      }
    }
    return null;
  },

  /** no reduce-only order rests without a position to reduce. */
  reduceOnlyHasPosition(state: State): string | null {
    const table = state.orders;
    for (const slot of table.orderSlots()) {
      if (!table.isReduceOnly(slot) || !table.isResting(slot)) continue;
      const owner = state.subaccount(table.subaccount(slot));
      const position = owner.exposures[table.market(slot)]?.positionLots ?? 0;
      if (position * table.side(slot) >= 0) return `order ${String(table.id(slot))}`;
    }
    return null;
  },

  /** only isolated positions hold margin, and none is left when they close. */
  isolatedMargin(state: State): string | null {
    for (const { id, exposures } of state.accounts.subaccounts) {
      for (const exposure of exposures) {
        if (exposure === undefined || exposure.marginQuanta === 0n) continue;
        if (!exposure.isolated || exposure.positionLots === 0) {
          return `subaccount ${String(id)} market ${String(exposure.market)}`;
        }
      }
    }
    return null;
  },

  /** nobody is below maintenance but those who wait for a price or a pause; a full scan beside the index. */
  nobodyLiquidatable(state: State): string | null {
    const [first] = liquidatable(state);
    return first === undefined ? null : `subaccount ${String(first)} is below maintenance`;
  },

  /** shares are those of the holders, and none is negative. */
  vaultShares(state: State): string | null {
    let sum = 0n;
    for (const { id, vaultShares } of state.accounts.subaccounts) {
      if (vaultShares < 0n) return `subaccount ${String(id)} holds ${String(vaultShares)}`;
      sum += vaultShares;
    }
    return sum === state.vaultShares ? null : `${String(sum)} ≠ ${String(state.vaultShares)}`;
  },

  /** §8: insurance, vault and treasury are never overdrawn by fees. */
  insuranceNotNegative(state: State): string | null {
    return state.insurance.cash >= 0n ? null : `insurance holds ${String(state.insurance.cash)}`;
  },
} as const satisfies Record<string, (state: State) => string | null>;

export function violations(state: State): InvariantViolation[] {
  const found: InvariantViolation[] = [];
  for (const [invariant, holds] of Object.entries(INVARIANTS)) {
    const detail = holds(state);
    if (detail !== null) found.push({ invariant, detail });
  }
  return found;
}
