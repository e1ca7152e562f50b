/** Reasons to reject an admitted order (R-2.3, R-2.5, R-2.7, D-3 to D-5), in the order of. */
import type { EndReason } from '../engine/refusals.ts';
import { affordsOrder, onlyReduces } from './afford.ts';
import { bestPrice } from './book.ts';
import { fillable, reducible } from './legs.ts';
import { abs, max, MOST_LOTS, sign, sum } from './numbers.ts';
import {
  leftOf,
  marketOf,
  positionOf,
  subOf,
  type Market,
  type Order,
  type World,
} from './world.ts';

export const openInterest = (world: World, market: number): bigint =>
  sum(world.subs.map((sub) => max(0n, positionOf(sub, market).lots)));

/** D-4: counts live orders of the subaccount in the market, without the incoming one. */
function isFull(world: World, order: Order): boolean {
  const open = world.live.filter(
    ({ sub, market, resting, status }) =>
      sub === order.sub && market === order.market && (resting || status === 'pending'),
  );
  return open.length >= marketOf(world, order.market).spec.maxOpenOrders;
}

/** Reason to reject a new order that goes to the book at once, in the precedence of. */
export function placeFault(world: World, order: Order): EndReason | null {
  const fault = bookFault(world, order);
  if (fault !== null) return fault;
  if (order.reduceOnly && reducible(world, order) === 0n) return 'reduceOnly';
  if (!order.ioc && isFull(world, order)) return 'openOrders';
  return order.reduceOnly ? null : riskFault(world, order);
}

/** Reason to reject a new pending order; the rest is checked at activation. */
export function waitFault(world: World, order: Order): EndReason | null {
  const status = statusFault(world, order);
  if (status !== null) return status;
  if (marketOf(world, order.market).mark === null) return 'noMarkPrice';
  if (order.leg && !order.parentLive && reducible(world, order) === 0n) return 'reduceOnly';
  return isFull(world, order) ? 'openOrders' : null;
}

/** Reason from the market's status. */
function statusFault(world: World, order: Order): EndReason | null {
  const { status } = marketOf(world, order.market);
  switch (status) {
    case 'open':
      return null;
    case 'postOnly':
      return order.postOnly ? null : 'halted';
    case 'reduceOnly':
      return order.reduceOnly || onlyReduces(world, order) ? null : 'halted';
    case 'cancelOnly':
    case 'halted':
      return 'halted';
    case 'delisted':
      return 'delisted';
  }
}

/** Reason to reject a pending order at activation. */
export function activationFault(world: World, order: Order): EndReason | null {
  const fault = bookFault(world, order);
  if (fault !== null) return fault;
  if (order.reduceOnly) return fillable(world, order) === 0n ? 'reduceOnly' : null;
  return riskFault(world, order);
}

function bookFault(world: World, order: Order): EndReason | null {
  const market = marketOf(world, order.market);
  const status = statusFault(world, order);
  if (status !== null) return status;
  if (market.mark === null) return 'noMarkPrice';
  if (market.frozen && !order.reduceOnly && !onlyReduces(world, order)) return 'staleIndex';
  if (!order.ioc && isFarFromMark(market, order.price)) return 'priceBand';
  return order.postOnly && crosses(world, market, order) ? 'postOnlyWouldCross' : null;
}

/** a resting price stays within ten bands of the mark. */
function isFarFromMark(market: Market, price: bigint): boolean {
  const mark = market.mark ?? 0n;
  return abs(price - mark) * 1_000_000n > 10n * mark * BigInt(market.spec.priceBandPpm);
}

function crosses(world: World, market: Market, order: Order): boolean {
  const side = sign(order.lots);
  const opposite = bestPrice(world, market, -side);
  return opposite !== null && (order.price - opposite) * side >= 0n;
}

function riskFault(world: World, order: Order): EndReason | null {
  const market = marketOf(world, order.market);
  const { lots } = positionOf(subOf(world, order.sub), order.market);
  const side = sign(order.lots);
  const alike = world.live.filter(
    (other) =>
      other.resting &&
      !other.reduceOnly &&
      other.sub === order.sub &&
      other.market === order.market &&
      sign(other.lots) === side,
  );
  const resting = sum([...alike, order].map(leftOf));
  if (max(resting, resting + side * lots) > MOST_LOTS) return 'openInterest';
  const opening = abs(lots + sign(order.lots) * leftOf(order)) - abs(lots);
  if (opening > 0n && openInterest(world, market.id) + opening > market.openInterestCap) {
    return 'openInterest';
  }
  return affordsOrder(world, order) ? null : 'insufficientMargin';
}
