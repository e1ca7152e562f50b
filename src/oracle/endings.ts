/** Ends of orders, and the ends of dependent orders (R-3.4, R-3.5, D-18). */
import type { CancelAll, CancelOrder } from '../engine/commands.ts';
import type { EndReason } from '../engine/refusals.ts';
import { takeOffBook } from './book.ts';
import { sign } from './numbers.ts';
import {
  isLive,
  leftOf,
  orderOf,
  emit,
  type Answer,
  type Market,
  type Order,
  type World,
} from './world.ts';

/** Marks an order as changed by the current command. */
export function touch(world: World, order: Order): void {
  order.updatedAt = world.now;
  order.updatedSeq = world.seq;
  world.touched.add(order.sub);
}

export function signedLeft(order: Order): bigint {
  return sign(order.lots) * leftOf(order);
}

/** Live legs whose parent is this order. */
export const legsOf = (world: World, parent: Order): Order[] =>
  world.live.filter((leg) => leg.leg && leg.parent === parent.id);

/** Ends the order; related orders follow. */
export function end(
  world: World,
  order: Order,
  status: 'filled' | 'cancelled' | 'expired',
  reason: EndReason | null,
): void {
  const wasShown = order.status !== 'pending';
  order.status = status;
  order.reason = reason;
  takeOffBook(world, order);
  world.live = world.live.filter((other) => other !== order);
  touch(world, order);
  emit(world, {
    kind: 'orderEnded',
    orderId: order.id,
    subaccount: order.sub,
    market: order.market,
    status,
    reason,
    remainingLots: signedLeft(order),
  });
  const legs = legsOf(world, order);
  if (legs.length > 0) world.todo.push({ kind: 'parentEnded', legs });
  if (order.type === 'iceberg' && wasShown && status !== 'filled') {
    world.todo.push({ kind: 'sliceEnded', slice: order });
  }
}

export function cancelOrder(world: World, c: CancelOrder): Answer {
  const order = world.orders[c.orderId - 1];
  if (order === undefined || !isLive(order)) return 'order_not_found';
  end(world, order, 'cancelled', 'user');
  return 'ok';
}

export function cancelAll(world: World, c: CancelAll): Answer {
  if (c.market !== null && world.markets[c.market] === undefined) return 'market_not_found';
  if (world.subs[c.subaccount]?.system !== false) return 'subaccount_not_found';
  for (const { id, sub, market } of [...world.live]) {
    if (sub !== c.subaccount || (c.market !== null && market !== c.market)) continue;
    // An earlier one may have ended this one.
    const order = orderOf(world, id);
    if (isLive(order)) end(world, order, 'cancelled', 'user');
  }
  return 'ok';
}

/** live while now ≤ expiresAt. */
export const expiryOf = (order: Order): bigint => order.expiresMs * 1000n + 1n;

export function expireOrders(world: World): void {
  for (const order of [...world.live]) {
    if (isLive(order) && expiryOf(order) <= world.now) end(world, order, 'expired', 'expired');
  }
}

/** Ends the vault's last order in a market, also when the market freezes. */
export function endVaultOrder(world: World, market: Market): void {
  if (market.vaultOrder === null) return;
  const order = orderOf(world, market.vaultOrder);
  market.vaultOrder = null;
  if (isLive(order)) end(world, order, 'expired', 'expired');
}
