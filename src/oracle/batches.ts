/** Valid groups of orders (R-3.2, R-3.4, R-3.5, D-20). */
import type { NewOrder } from '../engine/commands.ts';
import { isProtective, isSlice } from './order-types.ts';
import { must, type Answer } from './world.ts';

/** `bracket`: an order and its protective orders. */
export type Kind = 'twap' | 'iceberg' | 'bracket' | 'mixed';

const buys = ({ lots }: NewOrder): boolean => lots > 0;

export function kindOf(orders: readonly NewOrder[]): Kind {
  const first = must(orders[0]);
  const others = orders.slice(1);
  if (first.orderType === 'twap' || first.orderType === 'iceberg') return first.orderType;
  if (others.length > 0 && others.every(({ attached }) => attached)) return 'bracket';
  // Exactly a limit and then a pair without parent.
  const [one, two] = others;
  const isPair =
    one !== undefined &&
    two !== undefined &&
    isProtective(one) &&
    isProtective(two) &&
    one.orderType !== two.orderType &&
    one.parent === null &&
    two.parent === null;
  return first.orderType === 'limit' && orders.length === 3 && isPair ? 'bracket' : 'mixed';
}

/** The first rule that a group violates. */
export function groupFault(orders: readonly NewOrder[]): Answer {
  // D-20: legs attach to the first order of their group, which is not reduce-only.
  const first = must(orders[0]);
  const legs = orders.slice(1).filter(({ attached }) => attached);
  const attaches = kindOf(orders) === 'bracket' && !first.reduceOnly;
  if (first.attached || (legs.length > 0 && !attaches)) return 'parent_not_allowed';
  switch (kindOf(orders)) {
    case 'twap':
      return twapFault(orders);
    case 'iceberg':
      return icebergFault(orders);
    case 'bracket':
      return bracketFault(orders);
    case 'mixed':
      return mixedFault(orders);
  }
}

/** All equal in type, symbol and side. */
function sliceFault(orders: readonly NewOrder[]): Answer {
  const first = must(orders[0]);
  for (const order of orders) {
    if (order.orderType !== first.orderType) return 'batch_types_mixed';
    if (order.market !== first.market) return 'batch_symbols_differ';
    if (buys(order) !== buys(first)) return 'batch_sides_differ';
  }
  return 'ok';
}

function twapFault(orders: readonly NewOrder[]): Answer {
  const alike = sliceFault(orders);
  if (alike !== 'ok') return alike;
  const { periodMs } = must(orders[0]);
  return orders.every((order) => order.periodMs === periodMs) ? 'ok' : 'batch_periods_differ';
}

function icebergFault(orders: readonly NewOrder[]): Answer {
  const alike = sliceFault(orders);
  if (alike !== 'ok') return alike;
  const first = must(orders[0]);
  const shown = Math.abs(first.lots);
  for (const [i, { priceTicks, lots }] of orders.entries()) {
    if (priceTicks !== first.priceTicks) return 'batch_prices_differ';
    const size = Math.abs(lots);
    const fits = i === orders.length - 1 ? size <= shown : size === shown;
    if (!fits) return 'batch_quantities_differ';
  }
  return 'ok';
}

/** Legs are on the other side of their order, in its market; at most one of each kind. */
function bracketFault(orders: readonly NewOrder[]): Answer {
  const first = must(orders[0]);
  const legs = orders.slice(1);
  for (const leg of legs) {
    if (!leg.reduceOnly) return 'leg_not_reduce_only';
    if (leg.market !== first.market || buys(leg) === buys(first)) return 'order_not_found';
  }
  if (new Set(legs.map(({ orderType }) => orderType)).size < legs.length)
    return 'batch_second_pair';
  return 'ok';
}

function mixedFault(orders: readonly NewOrder[]): Answer {
  if (orders.some(isSlice)) return 'batch_types_mixed';
  const profits = orders.filter(({ orderType }) => orderType === 'takeProfit');
  const stops = orders.filter(({ orderType }) => orderType === 'stopLoss');
  if (profits.length > 1 || stops.length > 1) return 'batch_second_pair';
  const [profit] = profits;
  const [stop] = stops;
  if (profit === undefined || stop === undefined) return 'ok';
  if (!profit.reduceOnly || !stop.reduceOnly) return 'leg_not_reduce_only';
  if (profit.market !== stop.market) return 'batch_symbols_differ';
  if (buys(profit) !== buys(stop)) return 'batch_sides_differ';
  return profit.parent === stop.parent ? 'ok' : 'batch_parents_differ';
}
