/** An order at an instant: its terms, its place in the state machine, and what it waits for. */
import type { ExchangeView, MarketView, OrderView } from '../../engine/read/views.ts';
import { ORDER_TYPE_RULES } from '../../engine/orders/order-types.ts';
import { priceText, sizeText } from '../../gateway/encode.ts';
import { dateText } from '../../base/date-text.ts';
import { formatDecimal } from '../../num/decimal.ts';
import type { SubaccountId } from '../../num/units.ts';
import { subaccountName } from './account-names.ts';

/** States of the machine, in the order in which an order may pass them. */
export const ORDER_STATES = ['pending', 'resting', 'partiallyFilled', 'ended'] as const;
export type OrderState = (typeof ORDER_STATES)[number];

export interface OrderAt {
  readonly orderId: number;
  readonly subaccount: number;
  readonly owner: string;
  readonly market: number;
  readonly symbol: string;
  readonly orderType: string;
  readonly side: 'buy' | 'sell';
  readonly size: string;
  readonly filled: string;
  readonly remaining: string;
  readonly price: string;
  readonly flags: readonly string[];
  readonly clientId: string | null;
  readonly trigger: string | null;
  /** Status as in the contract, and the reason of an end. */
  readonly status: string;
  readonly reason: string | null;
  readonly state: OrderState;
  /** States that it can pass from here. */
  readonly nextStates: readonly OrderState[];
  /** A sentence: what the order waits for; null once it ended. */
  readonly waitsFor: string | null;
  readonly ahead: string | null;
  readonly createdAtUs: number;
  readonly updatedAtUs: number;
  readonly updatedSeq: number;
  /** Related orders by number. */
  readonly parent: number | null;
  readonly sibling: number | null;
  readonly group: number | null;
}

const NEXT: Readonly<Record<OrderState, readonly OrderState[]>> = {
  pending: ['resting', 'partiallyFilled', 'ended'],
  resting: ['partiallyFilled', 'ended'],
  partiallyFilled: ['ended'],
  ended: [],
};
/** The last expiry that engine time can reach, which orders without one are given. */
const LAST_MS = 9_007_199_254_740n;

export function ordersAt(view: ExchangeView, owner: SubaccountId): OrderAt[] {
  return view.openOrders(owner).map((order) => orderAt(view, order));
}

export function orderAt(view: ExchangeView, order: OrderView): OrderAt {
  const market = view.market(order.market);
  const ahead = order.status === 'pending' ? null : view.queueAhead(order.orderId);
  const state = stateOf(order);
  return {
    orderId: order.orderId,
    subaccount: order.subaccount,
    owner: subaccountName(view, order.subaccount),
    market: order.market,
    symbol: market.spec.symbol,
    orderType: order.orderType,
    side: order.lots > 0 ? 'buy' : 'sell',
    size: sizeText(market, Math.abs(order.lots)),
    filled: sizeText(market, Math.abs(order.settledLots)),
    remaining: sizeText(market, Math.abs(order.remainingLots)),
    price: priceText(market, order.priceTicks),
    flags: [
      ...(order.ioc ? ['ioc'] : []),
      ...(order.postOnly ? ['post-only'] : []),
      ...(order.reduceOnly ? ['reduce-only'] : []),
    ],
    clientId: order.clientId,
    trigger: order.triggerTicks === null ? null : priceText(market, order.triggerTicks),
    status: order.status,
    reason: order.reason,
    state,
    nextStates: NEXT[state],
    waitsFor: state === 'ended' ? null : waitsFor(view, market, order, ahead),
    ahead: ahead === null ? null : sizeText(market, ahead),
    createdAtUs: order.createdAtUs,
    updatedAtUs: order.updatedAtUs,
    updatedSeq: order.lastUpdateSeq,
    parent: order.parent?.orderId ?? null,
    sibling: order.sibling?.orderId ?? null,
    group: order.group?.orderId ?? null,
  };
}

function stateOf({ status }: OrderView): OrderState {
  switch (status) {
    case 'pending':
      return 'pending';
    case 'new':
      return 'resting';
    case 'partiallyFilled':
      return 'partiallyFilled';
    default:
      return 'ended';
  }
}

function waitsFor(
  view: ExchangeView,
  market: MarketView,
  order: OrderView,
  ahead: number | null,
): string {
  const expiry = expiryText(order);
  if (order.status !== 'pending') {
    const queue =
      ahead === null
        ? ''
        : ahead === 0
          ? ', first in its queue'
          : `, behind ${sizeText(market, ahead)}`;
    return `a counterparty at ${priceText(market, order.priceTicks)}${queue}${expiry}`;
  }
  return `${pendingText(view, market, order)}${expiry}`;
}

function pendingText(view: ExchangeView, market: MarketView, order: OrderView): string {
  const { waitsFor: wait } = ORDER_TYPE_RULES[order.orderType];
  if (wait === 'predecessor') return 'the fill of the slice before it';
  if (wait === 'time') {
    const first = order.group?.orderId ?? order.orderId;
    const dueUs = order.createdAtUs + Number(order.periodMs ?? 0n) * 1000 * (order.orderId - first);
    return `its time, ${dateText(dueUs)}`;
  }
  const parent = order.parent === null ? undefined : view.order(order.parent.orderId);
  if (order.parent !== null && parent !== undefined && parent.settledLots === 0) {
    return `the first fill of its parent, order ${String(order.parent.orderId)}`;
  }
  return triggerText(view, market, order);
}

function triggerText(view: ExchangeView, market: MarketView, order: OrderView): string {
  const source = view.config.triggerSource;
  const ticks = { mark: market.markTicks, index: market.indexTicks, last: market.lastTicks }[
    source
  ];
  const now = ticks === null ? 'unknown now' : `now ${priceText(market, ticks)}`;
  if (order.trailingPpm !== null) {
    const distance = formatDecimal(BigInt(order.trailingPpm), 4);
    const after =
      order.triggerTicks === null
        ? ''
        : ` once it has reached ${priceText(market, order.triggerTicks)}`;
    return `the mark to turn by ${distance} %${after}`;
  }
  const { firesOn } = ORDER_TYPE_RULES[order.orderType];
  // A selling order protects a long: it gains above and loses below.
  const isAbove = (firesOn === 'gain') === order.lots < 0;
  const trigger = order.triggerTicks === null ? '?' : priceText(market, order.triggerTicks);
  return `${source} ${isAbove ? '≥' : '≤'} ${trigger} (${now})`;
}

function expiryText({ expiresAtMs }: OrderView): string {
  if (expiresAtMs >= LAST_MS) return '';
  return `, until ${dateText(Number(expiresAtMs) * 1000)}`;
}
