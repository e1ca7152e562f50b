/**
 * The orders of a subaccount: a list for each market, and those that are reduce-only once more, so
 * that a position that closes visits these and no others. Work on one market visits no
 * order of another.
 */
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { MarketId } from '../../num/units.ts';

/** Adds a live order to the lists of its owner. */
export function ownOrder(
  { orders: table }: ExchangeState,
  owner: Subaccount,
  exposure: Exposure,
  slot: number,
): void {
  table.linkOwner(exposure.orders, slot);
  owner.orderCount += 1;
  if (table.isReduceOnly(slot)) (exposure.closing ??= new Set()).add(table.id(slot));
}

/** Removes an order from the lists of its owner. */
export function disownOrder(
  { orders: table }: ExchangeState,
  owner: Subaccount,
  exposure: Exposure,
  slot: number,
): void {
  table.unlinkOwner(exposure.orders, slot);
  owner.orderCount -= 1;
  exposure.closing?.delete(table.id(slot));
}

/** Slots of the live orders in one market, or in all (null), in ascending order id. */
export function ownedOrders(
  { orders: table }: ExchangeState,
  owner: Subaccount,
  market: MarketId | null = null,
): number[] {
  const slots: number[] = [];
  let markets = 0;
  for (const { market: at, orders } of owner.opened) {
    if (orders.head === NONE || (market !== null && at !== market)) continue;
    markets += 1;
    for (let slot = orders.head; slot !== NONE; slot = table.nextOfOwner(slot)) slots.push(slot);
  }
  return markets > 1 ? slots.sort((a, b) => table.id(a) - table.id(b)) : slots;
}
