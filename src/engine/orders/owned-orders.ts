/**
 * The orders of a subaccount: all in one list, and those that are reduce-only by market, so that a
 * position that closes visits these and no others.
 */
import type { Subaccount } from '../accounts/subaccount.ts';
import type { ExchangeState } from '../exchange-state.ts';

/** Adds a live order to the lists of its owner. */
export function ownOrder({ orders: table }: ExchangeState, owner: Subaccount, slot: number): void {
  table.linkOwner(owner.orders, slot);
  if (!table.isReduceOnly(slot)) return;
  const exposure = owner.exposure(table.market(slot));
  (exposure.closing ??= new Set()).add(slot);
}

/** Removes an order from the lists of its owner. */
export function disownOrder(
  { orders: table }: ExchangeState,
  owner: Subaccount,
  slot: number,
): void {
  table.unlinkOwner(owner.orders, slot);
  if (table.isReduceOnly(slot)) owner.exposure(table.market(slot)).closing?.delete(slot);
}
