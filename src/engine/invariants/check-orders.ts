/** Invariants of orders: counts, indices, and the conditions for resting. */
import { NONE } from '../book/order-table.ts';
import { legOver } from '../orders/protective-orders.ts';
import { findClientId } from '../orders/order-refusal.ts';
import { ownedOrders } from '../orders/owned-orders.ts';
import type { ExchangeState } from '../exchange-state.ts';

/** Empty counts by market, shared by subaccounts without orders; never mutated. */
const NO_COUNTS = new Map<number, number>();

/** the order sums used by margin equal the sums over resting orders. */
export function openOrderSums(state: ExchangeState): string | null {
  const table = state.orders;
  for (const subaccount of state.accounts.subaccounts) {
    const hasOrders = subaccount.orderCount > 0;
    const bids = hasOrders ? new Map<number, number>() : NO_COUNTS;
    const asks = hasOrders ? new Map<number, number>() : NO_COUNTS;
    const counts = hasOrders ? new Map<number, number>() : NO_COUNTS;
    const closing = hasOrders ? new Map<number, number>() : NO_COUNTS;
    for (const slot of ownedOrders(state, subaccount)) {
      if (table.isReduceOnly(slot)) {
        const market = table.market(slot);
        closing.set(market, (closing.get(market) ?? 0) + 1);
        if (subaccount.exposures[market]?.closing?.has(table.id(slot)) !== true) {
          return `order ${String(table.id(slot))} is reduce-only and not listed`;
        }
      }
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
        exposure.openOrders !== (counts.get(market) ?? 0) ||
        (exposure.closing?.size ?? 0) !== (closing.get(market) ?? 0)
      ) {
        return `subaccount ${String(subaccount.id)} market ${String(market)}`;
      }
    }
  }
  return null;
}

/** an exposure counts its pending orders and legs exactly. */
export function pendingOrders(state: ExchangeState): string | null {
  const table = state.orders;
  for (const subaccount of state.accounts.subaccounts) {
    const hasOrders = subaccount.orderCount > 0;
    const waiting = hasOrders ? new Map<number, number>() : NO_COUNTS;
    const legs = hasOrders ? new Map<number, number>() : NO_COUNTS;
    for (const slot of ownedOrders(state, subaccount)) {
      const market = table.market(slot);
      if (table.isWaiting(slot) === table.isResting(slot)) {
        return `order ${String(table.id(slot))} must be either pending or resting`;
      }
      if (table.isWaiting(slot)) waiting.set(market, (waiting.get(market) ?? 0) + 1);
      if (table.conditional(slot)?.leg === true) legs.set(market, (legs.get(market) ?? 0) + 1);
    }
    for (const exposure of subaccount.exposures) {
      if (exposure === undefined) continue;
      const { market } = exposure;
      if (
        exposure.pendingOrders !== (waiting.get(market) ?? 0) ||
        exposure.legs !== (legs.get(market) ?? 0)
      ) {
        return `subaccount ${String(subaccount.id)} market ${String(market)}`;
      }
    }
  }
  return null;
}

/** a pair never fills more than it protects; every leg has something to protect. */
export function legsCover(state: ExchangeState): string | null {
  const table = state.orders;
  for (const slot of table.anyOrderSlots()) {
    const leg = table.conditional(slot);
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
}

/** no reduce-only order rests without a position to reduce. */
export function reduceOnlyHasPosition(state: ExchangeState): string | null {
  const table = state.orders;
  for (const slot of table.anyOrderSlots()) {
    if (!table.isReduceOnly(slot) || !table.isResting(slot)) continue;
    const owner = state.subaccount(table.subaccount(slot));
    const position = owner.exposures[table.market(slot)]?.positionLots ?? 0;
    if (position * table.side(slot) >= 0) return `order ${String(table.id(slot))}`;
  }
  return null;
}

/**
 * quantity = settled + remaining, with one sign, consistent with the order's status.
 */
export function orderQuantities(state: ExchangeState): string | null {
  const table = state.orders;
  for (const slot of table.anyOrderSlots()) {
    const id = String(table.id(slot));
    const lots = table.lots(slot);
    const settled = table.settled(slot);
    const remaining = table.remaining(slot);
    if (settled + remaining !== lots || settled * lots < 0 || remaining * lots <= 0) {
      return `order ${id}: ${String(settled)} settled and ${String(remaining)} remaining of ${String(lots)}`;
    }
    const status = table.status(slot);
    const fits = table.isWaiting(slot)
      ? status === 'pending'
      : status === (settled === 0 ? 'new' : 'partiallyFilled');
    if (!fits) return `order ${id}: ${status} with ${String(settled)} settled`;
  }
  return null;
}

/** indices by id, clientId, owner and expiry have exactly the live orders. */
export function orderIndices(state: ExchangeState): string | null {
  const table = state.orders;
  const timers = new Set(state.expiries.allKeys());
  let named = 0;
  let expiring = 0;
  for (const slot of table.anyOrderSlots()) {
    const id = table.id(slot);
    const clientId = table.clientId(slot);
    const owner = state.subaccount(table.subaccount(slot));
    if (table.slotOf(id) !== slot) return `order ${String(id)} is not found by its id`;
    if (clientId !== null) {
      named += 1;
      if (findClientId(state, owner, clientId) !== slot) {
        return `order ${String(id)} is not found by its clientId ${clientId}`;
      }
    }
    if (!table.hasTimer(slot)) continue;
    expiring += 1;
    if (!timers.has(id)) return `order ${String(id)} will not expire`;
  }
  if (named !== state.clientIds.count)
    return `${String(state.clientIds.count)} clientIds of ${String(named)} orders`;
  if (expiring !== state.expiring)
    return `${String(state.expiring)} of ${String(expiring)} expiries counted`;
  return ownersHold(state);
}

/** Each live order is in the list of its subaccount and market exactly once, in ascending id. */
function ownersHold(state: ExchangeState): string | null {
  const table = state.orders;
  let listed = 0;
  for (const { id, opened, orderCount } of state.accounts.subaccounts) {
    const before = listed;
    for (const { market, orders } of opened) {
      let last = 0;
      for (let slot = orders.head; slot !== NONE; slot = table.nextOfOwner(slot)) {
        const isOwn = table.subaccount(slot) === id && table.market(slot) === market;
        if (!isOwn || table.id(slot) <= last) {
          return `subaccount ${String(id)} lists order ${String(table.id(slot))} after ${String(last)}`;
        }
        last = table.id(slot);
        listed += 1;
      }
    }
    if (listed - before !== orderCount) {
      return `subaccount ${String(id)} counts ${String(orderCount)} of ${String(listed - before)} orders`;
    }
  }
  const live = table.anyOrderSlots().length;
  return listed === live ? null : `${String(listed)} orders listed of ${String(live)}`;
}

/** no live order is past its expiry. */
export function nothingExpired(state: ExchangeState): string | null {
  const table = state.orders;
  for (const slot of table.anyOrderSlots()) {
    const atMs = table.expiresAtMs(slot);
    if (table.hasTimer(slot) && BigInt(state.nowUs) > atMs * 1000n) {
      return `order ${String(table.id(slot))} should have ended at ${String(atMs)} ms`;
    }
  }
  return null;
}
