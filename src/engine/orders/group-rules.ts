/** Valid groups of orders of each kind; required and forbidden fields of each type. */
import type { NewOrder } from '../commands.ts';
import type { Refusal } from '../refusals.ts';

export const MAX_BATCH_ORDERS = 100;
/** Upper bound (exclusive) of a trailing distance, in 1e-6. */
const HUNDRED_PERCENT = 1_000_000;

/** `mixed`: limits and triggers with at most one pair. `bracket`: an order and its legs. */
export type GroupKind = 'mixed' | 'bracket' | 'twap' | 'iceberg';

export function groupKind(orders: readonly NewOrder[]): GroupKind {
  const [first, second, third] = orders;
  if (first?.orderType === 'twap') return 'twap';
  if (first?.orderType === 'iceberg') return 'iceberg';
  if (second === undefined) return 'mixed';
  if (orders.every(({ attached }, i) => i === 0 || attached)) return 'bracket';
  if (third === undefined || orders.length > 3) return 'mixed';
  const pairFollows = first?.orderType === 'limit' && isOfPosition(second) && isOfPosition(third);
  return pairFollows && second.orderType !== third.orderType ? 'bracket' : 'mixed';
}

/** A protective order without a parent. */
function isOfPosition(order: NewOrder): boolean {
  return isProtective(order) && order.parent === null;
}

function isProtective({ orderType }: NewOrder): boolean {
  return orderType === 'takeProfit' || orderType === 'stopLoss';
}

/** Violations of shape: number and nonce order. Attached orders share the first nonce. */
export function shapeRefusal(orders: readonly NewOrder[]): Refusal | null {
  if (orders.length === 0) return 'batch_empty';
  if (orders.length > MAX_BATCH_ORDERS) return 'batch_too_large';
  let last = -1n;
  for (const { nonce, attached } of orders) {
    if (!attached && nonce <= last) return 'batch_nonces_not_increasing';
    if (!attached) last = nonce;
  }
  return null;
}

/** Fields that an order has but its type excludes, or lacks but its type requires. */
export function typeRefusal(order: NewOrder): Refusal | null {
  const { orderType, triggerTicks, trailingPpm, periodMs, parent } = order;
  const trails = orderType === 'trailingStop';
  if ((periodMs !== null) !== (orderType === 'twap')) return 'period_not_allowed';
  if (periodMs !== null && periodMs <= 0n) return 'period_not_positive';
  if ((trailingPpm !== null) !== trails) return 'trailing_percent_not_allowed';
  if (trailingPpm !== null && (trailingPpm <= 0 || trailingPpm >= HUNDRED_PERCENT)) {
    return 'trailing_percent_out_of_range';
  }
  if (isProtective(order) ? triggerTicks === null : triggerTicks !== null && !trails) {
    return 'trigger_price_not_allowed';
  }
  if (triggerTicks !== null && triggerTicks <= 0) return 'trigger_price_not_positive';
  if (parent !== null && !isProtective(order)) return 'parent_not_allowed';
  if (order.attached && (parent !== null || !isProtective(order))) return 'parent_not_allowed';
  if ((parent !== null || order.attached) && !order.reduceOnly) return 'leg_not_reduce_only';
  if (orderType === 'iceberg' && order.ioc) return 'iceberg_ioc';
  return null;
}

/** The first rule of its kind that a group violates. */
export function groupRefusal(kind: GroupKind, orders: readonly NewOrder[]): Refusal | null {
  const [first, ...others] = orders;
  if (first === undefined) return 'batch_empty';
  // Legs attach to the first order of their group, which is not reduce-only (R-2.15, D-20).
  const attaches = kind === 'bracket' && !first.reduceOnly;
  if (first.attached || (!attaches && others.some(({ attached }) => attached))) {
    return 'parent_not_allowed';
  }
  switch (kind) {
    case 'twap':
      return sliceRefusal(first, others) ?? periodRefusal(first, others);
    case 'iceberg':
      return sliceRefusal(first, others) ?? icebergRefusal(first, others);
    case 'bracket':
      return bracketRefusal(first, others);
    default:
      return mixedRefusal(orders);
  }
}

function sliceRefusal(first: NewOrder, others: readonly NewOrder[]): Refusal | null {
  for (const order of others) {
    if (order.orderType !== first.orderType) return 'batch_types_mixed';
    if (order.market !== first.market) return 'batch_symbols_differ';
    if (order.lots > 0 !== first.lots > 0) return 'batch_sides_differ';
  }
  return null;
}

function periodRefusal(first: NewOrder, others: readonly NewOrder[]): Refusal | null {
  return others.some(({ periodMs }) => periodMs !== first.periodMs) ? 'batch_periods_differ' : null;
}

function icebergRefusal(first: NewOrder, others: readonly NewOrder[]): Refusal | null {
  for (const [i, order] of others.entries()) {
    if (order.priceTicks !== first.priceTicks) return 'batch_prices_differ';
    const isLast = i === others.length - 1;
    const size = Math.abs(order.lots);
    const shown = Math.abs(first.lots);
    if (isLast ? size > shown : size !== shown) return 'batch_quantities_differ';
  }
  return null;
}

/**
 * Protective orders are on the other side of their order, in its market; at most one of each kind.
 */
function bracketRefusal(first: NewOrder, legs: readonly NewOrder[]): Refusal | null {
  for (const leg of legs) {
    if (!leg.reduceOnly) return 'leg_not_reduce_only';
    if (leg.market !== first.market || leg.lots > 0 === first.lots > 0) return 'order_not_found';
  }
  return mixedRefusal([first, ...legs].filter((order) => order !== first));
}

function mixedRefusal(orders: readonly NewOrder[]): Refusal | null {
  if (orders.some(({ orderType }) => orderType === 'twap' || orderType === 'iceberg')) {
    return 'batch_types_mixed';
  }
  if (!orders.some(isProtective)) return null;
  const profits = orders.filter(({ orderType }) => orderType === 'takeProfit');
  const stops = orders.filter(({ orderType }) => orderType === 'stopLoss');
  if (profits.length > 1 || stops.length > 1) return 'batch_second_pair';
  const [profit] = profits;
  const [stop] = stops;
  if (profit === undefined || stop === undefined) return null;
  if (!profit.reduceOnly || !stop.reduceOnly) return 'leg_not_reduce_only';
  if (profit.market !== stop.market) return 'batch_symbols_differ';
  if (profit.lots > 0 !== stop.lots > 0) return 'batch_sides_differ';
  return profit.parent === stop.parent ? null : 'batch_parents_differ';
}
