/**
 * Types of orders (R-2.10, §3, §4), one row each: what the type requires, what it waits for and how
 * it trades. A type with a rule of its own names that rule here; the file of the rule holds it.
 */

export type OrderType = 'limit' | 'twap' | 'takeProfit' | 'stopLoss' | 'trailingStop' | 'iceberg';

/** Condition for a new order to match; slices after the first always wait. */
type Wait = 'nothing' | 'trigger' | 'time' | 'predecessor';

export interface OrderTypeRules {
  readonly waitsFor: Wait;
  /** Orders of the type come in groups of their own: the slices of one order. */
  readonly sliced: boolean;
  readonly triggerPrice: 'none' | 'optional' | 'required';
  /** Side of its trigger price on which it fires: where the position gains, or where it loses. */
  readonly firesOn: 'gain' | 'loss';
  /** Whether it needs a trailing distance, and whether it needs a period. */
  readonly trails: boolean;
  readonly timed: boolean;
  /** Whether it may protect a position or an order. */
  readonly protective: boolean;
  /** Whether it may be `ioc`. */
  readonly ioc: boolean;
  /** Status of an `ioc` order whose unfilled part ends. */
  readonly unfilled: 'cancelled' | 'expired';
}

const LIMIT: OrderTypeRules = {
  waitsFor: 'nothing',
  sliced: false,
  triggerPrice: 'none',
  firesOn: 'gain',
  trails: false,
  timed: false,
  protective: false,
  ioc: true,
  unfilled: 'cancelled',
};
const PROTECTIVE = {
  ...LIMIT,
  waitsFor: 'trigger',
  triggerPrice: 'required',
  protective: true,
} as const;

/** In the order of their numbers in journals, snapshots and hashes: append-only. */
export const ORDER_TYPE_RULES: Readonly<Record<OrderType, OrderTypeRules>> = {
  limit: LIMIT,
  // The unfilled part of a slice expires.
  twap: { ...LIMIT, waitsFor: 'time', sliced: true, timed: true, unfilled: 'expired' },
  takeProfit: PROTECTIVE,
  stopLoss: { ...PROTECTIVE, firesOn: 'loss' },
  trailingStop: { ...LIMIT, waitsFor: 'trigger', triggerPrice: 'optional', trails: true },
  iceberg: { ...LIMIT, waitsFor: 'predecessor', sliced: true, ioc: false },
};

export const ORDER_TYPES = Object.keys(ORDER_TYPE_RULES) as readonly OrderType[];

/** Whether the order at this place of its group waits before it matches. */
export function waitsFirst(orderType: OrderType, place: number): boolean {
  const { waitsFor, sliced } = ORDER_TYPE_RULES[orderType];
  return sliced ? place > 0 : waitsFor !== 'nothing';
}
