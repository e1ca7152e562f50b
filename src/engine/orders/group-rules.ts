/** Valid groups of orders of each kind; required and forbidden fields of each type. */
import type { NewOrder, PlaceOrder } from '../commands.ts';
import type { MarketSpec } from '../config.ts';
import type { Leg, Refusal } from '../refusals.ts';
import { ORDER_TYPE_RULES } from './order-types.ts';

export const MAX_BATCH_ORDERS = 100;
export const BATCH_TOO_LARGE = { code: 'batch_too_large', maxOrders: MAX_BATCH_ORDERS } as const;
/** A request that only breaks rules of groups (R-2.14, §3) becomes a command, and is journalled. */
export type RefusalScope = 'request' | 'command';
/** A trailing distance is above 0 and below 100 %, in 1e-6. */
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

export function isProtective({ orderType }: NewOrder): boolean {
  return ORDER_TYPE_RULES[orderType].protective;
}

/** Violations of shape: number and nonce order. Attached orders share the first nonce. */
export function shapeRefusal(orders: readonly NewOrder[]): Refusal | null {
  if (orders.length === 0) return { code: 'batch_empty' };
  if (orders.length > MAX_BATCH_ORDERS) return BATCH_TOO_LARGE;
  let last = -1n;
  for (const { nonce, attached } of orders) {
    if (!attached && nonce <= last) return { code: 'batch_nonces_not_increasing' };
    if (!attached) last = nonce;
  }
  return null;
}

export function isAttached(order: PlaceOrder | NewOrder): order is NewOrder {
  return 'attached' in order && order.attached;
}

/** Name of a price in a request: those of attached orders belong to their leg. */
export function priceField(order: PlaceOrder | NewOrder, name: 'price' | 'triggerPrice') {
  return isAttached(order) ? (`${legOf(order)}.${name}` as const) : name;
}

function legOf({ orderType }: NewOrder): Leg {
  return orderType === 'takeProfit' ? 'takeProfit' : 'stopLoss';
}

/** Fields that an order has but its type excludes, or lacks but its type requires. */
export function typeRefusal(
  order: NewOrder,
  spec: MarketSpec,
  scope: RefusalScope,
): Refusal | null {
  const { orderType, triggerTicks, trailingPpm, periodMs, parent } = order;
  const rules = ORDER_TYPE_RULES[orderType];
  if ((periodMs !== null) !== rules.timed) {
    return { code: 'period_not_allowed', orderType };
  }
  const isCommand = scope === 'command';
  if (isCommand && periodMs !== null && periodMs <= 0n) return { code: 'period_not_positive' };
  if ((trailingPpm !== null) !== rules.trails) return { code: 'trailing_percent_not_allowed' };
  if (trailingPpm !== null) {
    if (!Number.isInteger(trailingPpm)) return { code: 'trailing_percent_off_step' };
    if (trailingPpm <= 0 || trailingPpm >= HUNDRED_PERCENT) {
      return { code: 'trailing_percent_out_of_range' };
    }
  }
  if (triggerTicks === null ? rules.triggerPrice === 'required' : rules.triggerPrice === 'none') {
    return { code: 'trigger_price_not_allowed' };
  }
  const { tickSize, maxPriceTicks: maxTicks } = spec;
  if (triggerTicks !== null && !(triggerTicks > 0 && Number.isInteger(triggerTicks))) {
    const field = priceField(order, 'triggerPrice');
    if (triggerTicks <= 0) return { code: 'trigger_price_not_positive', field };
    return { code: 'price_off_tick', field, tickSize, ioc: false };
  }
  const { attached, reduceOnly } = order;
  if (parent === null ? attached && !isProtective(order) : attached || !isProtective(order)) {
    return { code: 'parent_not_allowed', leg: null, orderType };
  }
  if (isCommand && (parent !== null || attached) && !reduceOnly) {
    return { code: 'leg_not_reduce_only' };
  }
  if (isCommand && order.ioc && !rules.ioc) return { code: 'iceberg_ioc' };
  if (triggerTicks === null || triggerTicks <= maxTicks) return null;
  return { code: 'price_too_high', field: priceField(order, 'triggerPrice'), maxTicks, tickSize };
}

/** Legs attach to the first order of their group, which is not reduce-only (R-2.15, D-20). */
export function attachmentRefusal(orders: readonly NewOrder[]): Refusal | null {
  const leg = orders.find(({ attached }) => attached);
  const [first] = orders;
  if (leg === undefined || first === undefined) return null;
  const attaches = groupKind(orders) === 'bracket' && !first.reduceOnly && !first.attached;
  if (attaches) return null;
  return { code: 'parent_not_allowed', leg: legOf(leg), orderType: first.orderType };
}

/** The rule of its kind that a group breaks. */
export function groupRefusal(orders: readonly NewOrder[]): Refusal | null {
  const [first, ...others] = orders;
  if (first === undefined) return { code: 'batch_empty' };
  switch (groupKind(orders)) {
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
    if (order.orderType !== first.orderType) return { code: 'batch_types_mixed' };
    if (order.market !== first.market) return { code: 'batch_symbols_differ' };
    if (order.lots > 0 !== first.lots > 0) return { code: 'batch_sides_differ' };
  }
  return null;
}

function periodRefusal(first: NewOrder, others: readonly NewOrder[]): Refusal | null {
  return others.some(({ periodMs }) => periodMs !== first.periodMs)
    ? { code: 'batch_periods_differ' }
    : null;
}

function icebergRefusal(first: NewOrder, others: readonly NewOrder[]): Refusal | null {
  for (const [i, order] of others.entries()) {
    if (order.priceTicks !== first.priceTicks) return { code: 'batch_prices_differ' };
    const isLast = i === others.length - 1;
    const size = Math.abs(order.lots);
    const shown = Math.abs(first.lots);
    if (isLast ? size > shown : size !== shown) return { code: 'batch_quantities_differ' };
  }
  return null;
}

/**
 * Protective orders are on the other side of their order, in its market; at most one of each kind.
 */
function bracketRefusal(first: NewOrder, legs: readonly NewOrder[]): Refusal | null {
  for (const leg of legs) {
    if (!leg.reduceOnly) return { code: 'leg_not_reduce_only' };
    if (leg.market !== first.market || leg.lots > 0 === first.lots > 0)
      return { code: 'order_not_found' };
  }
  return mixedRefusal([first, ...legs].filter((order) => order !== first));
}

function mixedRefusal(orders: readonly NewOrder[]): Refusal | null {
  if (orders.some(({ orderType }) => ORDER_TYPE_RULES[orderType].sliced)) {
    return { code: 'batch_types_mixed' };
  }
  if (!orders.some(isProtective)) return null;
  const profits = orders.filter(({ orderType }) => orderType === 'takeProfit');
  const stops = orders.filter(({ orderType }) => orderType === 'stopLoss');
  if (profits.length > 1 || stops.length > 1) return { code: 'batch_second_pair' };
  const [profit] = profits;
  const [stop] = stops;
  if (profit === undefined || stop === undefined) return null;
  if (!profit.reduceOnly || !stop.reduceOnly) return { code: 'leg_not_reduce_only' };
  if (profit.market !== stop.market) return { code: 'batch_symbols_differ' };
  if (profit.lots > 0 !== stop.lots > 0) return { code: 'batch_sides_differ' };
  return profit.parent === stop.parent ? null : { code: 'batch_parents_differ' };
}
