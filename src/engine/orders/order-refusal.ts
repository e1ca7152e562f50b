/**
 * Why new orders are refused, in the precedence of: the same for a single order, for a group,
 * and for a request that is not a command yet. Each stage covers all orders of a group (D-51).
 *
 * A number off the market's grid cannot be in a command; in a request it is a fraction.
 */
import { hashText } from '../../base/slot-index.ts';
import { must } from '../../base/assert.ts';
import { MAX_PRICE_TICKS, priceTicks, type AccountId } from '../../num/units.ts';
import { actsFor } from '../accounts/authority.ts';
import type { Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { Clock } from '../clock.ts';
import type { NewOrder, PlaceOrder, PlaceOrders } from '../commands.ts';
import type { Refusal } from '../refusals.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { isExpired } from './expiry.ts';
import {
  attachmentRefusal,
  groupRefusal,
  isAttached,
  priceField,
  shapeRefusal,
  typeRefusal,
  type RefusalScope,
} from './group-rules.ts';

/** One order of a command: all that a single order and one of a group have alike. */
type Order = PlaceOrder | NewOrder;

/** Why the command is refused, or null. A single order that is accepted allocates nothing. */
export function orderRefusal(
  state: ExchangeState,
  command: PlaceOrder | PlaceOrders,
  scope: RefusalScope,
  clock: Clock,
): Refusal | null {
  const group = command.kind === 'placeOrders' ? command.orders : null;
  const shape = group === null ? null : shapeRefusal(group);
  if (shape !== null) return shape;
  const count = group === null ? 1 : group.length;
  for (let i = 0; i < count; i++) {
    const market = state.markets[orderOf(command, i).market];
    if (market === undefined) return { code: 'market_not_found' };
  }
  const subaccount = state.accounts.subaccounts[command.subaccount];
  if (subaccount?.role !== 'user') return { code: 'subaccount_not_found' };
  for (let i = 0; i < count; i++) {
    if (isExpired(clock, orderOf(command, i).expiresAtMs)) return { code: 'request_expired' };
  }
  const { delegate } = command;
  if (!actsFor(state, subaccount, delegate)) return { code: 'not_delegated' };
  for (let i = 0; i < count; i++) {
    const order = orderOf(command, i);
    const refusal = isAttached(order) ? null : subaccount.orderNonces.check(delegate, order.nonce);
    if (refusal !== null) return refusal;
  }
  let names: Set<string> | null = null;
  for (let i = 0; i < count; i++) {
    const { clientId } = orderOf(command, i);
    if (clientId === null) continue;
    if (names?.has(clientId) === true || findClientId(state, subaccount, clientId) !== NONE) {
      return { code: 'client_id_in_use' };
    }
    if (count > 1) names = (names ?? new Set()).add(clientId);
  }
  for (let i = 0; i < count; i++) {
    const order = orderOf(command, i);
    const refusal = termsRefusal(state, order, delegate, scope);
    if (refusal !== null) return refusal;
  }
  if (group === null) return null;
  const attachment = attachmentRefusal(group);
  if (attachment !== null || scope === 'request') return attachment;
  const refusal = groupRefusal(group);
  if (refusal !== null) return refusal;
  const haveParents = group.every((order) => hasParent(state, order, command.subaccount));
  return haveParents ? null : { code: 'order_not_found' };
}

function orderOf(command: PlaceOrder | PlaceOrders, i: number): Order {
  return command.kind === 'placeOrder' ? command : must(command.orders[i], 'the group has it');
}

/** Slot of the live order of this account with this clientId, or NONE. */
export function findClientId(
  state: ExchangeState,
  subaccount: Subaccount,
  clientId: string,
): number {
  return state.clientIds.find(hashText(subaccount.account, clientId), (slot) => {
    if (!state.orders.clientIds.is(slot, clientId)) return false;
    return state.subaccount(state.orders.subaccount(slot)).account === subaccount.account;
  });
}

/** Why the terms of an order are against the market's spec, or against its type. */
function termsRefusal(
  state: ExchangeState,
  order: Order,
  delegate: AccountId | null,
  scope: RefusalScope,
): Refusal | null {
  const { spec } = state.market(order.market);
  const { tickSize, lotSize, minLots, maxLots } = spec;
  const { priceTicks: price, ioc } = order;
  const maxTicks = priceTicks(Math.min(spec.maxPriceTicks, MAX_PRICE_TICKS));
  if (!(price >= 1 && price <= maxTicks && Number.isInteger(price))) {
    const field = priceField(order, 'price');
    if (price <= 0) return { code: 'price_not_positive', field };
    if (!Number.isInteger(price)) return { code: 'price_off_tick', field, tickSize, ioc };
    return { code: 'price_too_high', field, maxTicks, tickSize };
  }
  const size = Math.abs(order.lots);
  if (size === 0) return { code: 'quantity_zero' };
  if (!Number.isInteger(size)) return { code: 'quantity_off_lot', lotSize };
  if (size < minLots) return { code: 'quantity_below_minimum', minLots, lotSize };
  if (size > maxLots) return { code: 'quantity_above_maximum', maxLots, lotSize };
  if (ioc && order.postOnly) return { code: 'flags_conflict' };
  const { maxOriginatorFeePpm, maxDelegateOriginatorFeePpm } = state.config;
  const maxPpm = delegate === null ? maxOriginatorFeePpm : maxDelegateOriginatorFeePpm;
  if (order.originatorFeePpm > maxPpm) return { code: 'originator_fee_too_high', maxPpm };
  if (order.originator === null) {
    if (order.originatorFeePpm !== 0) return { code: 'originator_missing' };
  } else if (scope === 'command' && state.isSystem(order.originator)) {
    return { code: 'originator_not_allowed' };
  }
  return 'triggerTicks' in order ? typeRefusal(order, spec, scope) : null;
}

/** A parent is a live order of the same subaccount and market, on the other side. */
function hasParent(
  state: ExchangeState,
  { parent, market, lots }: NewOrder,
  owner: number,
): boolean {
  if (parent === null) return true;
  const slot = state.orders.slotOf(parent);
  return (
    slot !== NONE &&
    state.orders.subaccount(slot) === owner &&
    state.orders.market(slot) === market &&
    state.orders.side(slot) > 0 !== lots > 0
  );
}
