/**
 * Protective orders ("legs"): take-profit and stop-loss (R-3.5, R-3.6, D-18, D-19). A leg protects
 * a position or the fills of its parent; fills of either leg of a pair reduce the cover of the
 * other. It ends once nothing can need it.
 */
import type { EndReason } from '../engine/refusals.ts';
import { takeOffBook } from './book.ts';
import { end, legsOf, touch } from './endings.ts';
import { abs, max, min, sign } from './numbers.ts';
import { hasTurned } from './positions.ts';
import {
  isLive,
  leftOf,
  orderOf,
  positionOf,
  emit,
  subOf,
  type Market,
  type Order,
  type Sub,
  type World,
} from './world.ts';

/** Lots by which a reduce-only order may still reduce the position. */
export const reducible = (world: World, order: Order): bigint =>
  max(0n, -sign(order.lots) * positionOf(subOf(world, order.sub), order.market).lots);

const filledOf = (world: World, id: number | null): bigint =>
  id === null ? 0n : orderOf(world, id).filled;

/** Lots that a leg still covers. */
export function coverOf(world: World, leg: Order): bigint {
  const size = abs(leg.lots);
  const protects = leg.parent === null ? size : min(size, filledOf(world, leg.parent));
  return max(0n, min(leftOf(leg), protects - leg.filled - filledOf(world, leg.sibling)));
}

/** Lots that a reduce-only order may fill now. */
export const fillable = (world: World, order: Order): bigint =>
  order.leg ? min(reducible(world, order), coverOf(world, order)) : reducible(world, order);

/** Reason to end a leg, or null while it may still be needed (D-18). */
export function whyOver(world: World, leg: Order): EndReason | null {
  if (leg.parentLive) return null;
  if (leg.parent !== null && filledOf(world, leg.parent) === 0n) return 'parentCancelled';
  if (coverOf(world, leg) === 0n) {
    return filledOf(world, leg.sibling) > 0n ? 'ocoSibling' : 'parentCancelled';
  }
  return reducible(world, leg) === 0n ? 'positionClosed' : null;
}

/** Makes the order pending. */
export function wait(world: World, order: Order): void {
  order.status = 'pending';
  takeOffBook(world, order);
  touch(world, order);
  emit(world, {
    kind: 'orderPending',
    orderId: order.id,
    subaccount: order.sub,
    market: order.market,
  });
}

/** Makes a partly filled leg pending again, armed while it covers something. */
export function waitAgain(world: World, leg: Order): void {
  wait(world, leg);
  leg.armed = coverOf(world, leg) > 0n;
}

/** A leg that cannot fill now ends or becomes pending again. */
export function retire(world: World, leg: Order): void {
  const over = whyOver(world, leg);
  if (over === null) waitAgain(world, leg);
  else end(world, leg, 'cancelled', over);
}

/** Ends a leg with nothing to protect; takes one that cannot fill now off the book. */
export function review(world: World, leg: Order): void {
  if (!isLive(leg)) return;
  const over = whyOver(world, leg);
  if (over !== null) end(world, leg, 'cancelled', over);
  else if (leg.resting && fillable(world, leg) === 0n) retire(world, leg);
}

/** After a partial fill of an order: its legs cover more, its sibling less. */
export function notifyLegs(world: World, order: Order): void {
  for (const leg of legsOf(world, order)) if (leg.status === 'pending') leg.armed = true;
  if (!order.leg) return;
  world.todo.push({ kind: 'leg', leg: order });
  if (order.sibling !== null) world.todo.push({ kind: 'leg', leg: orderOf(world, order.sibling) });
}

/** ends reduce-only orders and legs of a closed position, except the one matching. */
export function closeReduceOnly(
  world: World,
  sub: Sub,
  market: Market,
  before: bigint,
  {
    matching = null,
    reason = 'reduceOnly',
  }: { readonly matching?: Order | null; readonly reason?: 'reduceOnly' | 'adl' },
): void {
  if (!hasTurned(before, positionOf(sub, market.id).lots)) return;
  for (const order of [...world.live]) {
    if (order === matching || order.sub !== sub.id || order.market !== market.id) continue;
    if (!isLive(order) || !order.reduceOnly || reducible(world, order) > 0n) continue;
    if (!order.leg) {
      if (order.resting) end(world, order, 'cancelled', reason);
    } else if (order.resting) retire(world, order);
    else if (whyOver(world, order) !== null) end(world, order, 'cancelled', 'positionClosed');
  }
}
