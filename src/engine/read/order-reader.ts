/** Reads of orders by id, by clientId, by owner, and by filter. Reads never change state. */
import {
  lots,
  type AccountId,
  type Lots,
  type OrderId,
  type SubaccountId,
} from '../../num/units.ts';
import type { OrderRows } from '../book/order-rows.ts';
import { NONE, ORDER_STATUSES } from '../book/order-table.ts';
import { ORDER_TYPES } from '../orders/order-types.ts';
import type { RowFilter } from '../book/row-tags.ts';
import { findClientId } from '../orders/order-refusal.ts';
import { ownedOrders } from '../orders/owned-orders.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { OrderFilter, OrderList, OrderPlace, OrderView } from './views.ts';

/** A live or retained order. */
export function orderOf(state: ExchangeState, id: OrderId): OrderView | undefined {
  const live = state.orders.slotOf(id);
  if (live !== NONE) return viewOrder(state.orders, live);
  const { endedOrders: ended } = state;
  const slot = ended.slotOf(id);
  return slot === NONE ? undefined : viewOrder(ended.page(slot), ended.rowOf(slot));
}

/** Whether `orderOf` has the order, without making a view of it. */
export function hasOrder(state: ExchangeState, id: OrderId): boolean {
  return state.orders.slotOf(id) !== NONE || state.endedOrders.slotOf(id) !== NONE;
}

/** Lots ahead of a resting order in the queue of its price; null for any other order. */
export function queueAhead(state: ExchangeState, id: OrderId): Lots | null {
  const table = state.orders;
  const slot = table.slotOf(id);
  if (slot === NONE || !table.isResting(slot)) return null;
  const impact = state.market(table.market(slot)).impact;
  let ahead = impact?.hiddenAt(table.side(slot), table.price(slot)) ?? 0;
  for (let at = table.prev(slot); at !== NONE; at = table.prev(at)) ahead += table.left(at);
  return lots(ahead);
}

/** The live order with this clientId, otherwise the newest ended one. */
export function orderByClientId(
  state: ExchangeState,
  account: AccountId,
  clientId: string,
  within: (index: number) => boolean,
): OrderView | undefined {
  const sees = (rows: OrderRows, row: number): boolean =>
    within(state.subaccount(rows.subaccount(row)).index);
  const live = liveSlot(state, account, clientId);
  if (live !== NONE && sees(state.orders, live)) return viewOrder(state.orders, live);
  const ended = state.endedOrders;
  const owner = state.accounts.get(account);
  const list = owner.endedOrders;
  for (let slot = list.tail; slot !== NONE; slot = ended.prevOfOwner(list, slot)) {
    const page = ended.page(slot);
    const row = ended.rowOf(slot);
    if (page.clientIds.is(row, clientId) && sees(page, row)) return viewOrder(page, row);
  }
  return undefined;
}

/** The live order with this clientId. Ended ones are not searched, so its cost is constant. */
export function liveOrderByClientId(
  state: ExchangeState,
  account: AccountId,
  clientId: string,
): OrderView | undefined {
  const slot = liveSlot(state, account, clientId);
  return slot === NONE ? undefined : viewOrder(state.orders, slot);
}

function liveSlot(state: ExchangeState, id: AccountId, clientId: string): number {
  const [any] = state.accounts.get(id).subaccounts.values();
  return any === undefined ? NONE : findClientId(state, state.subaccount(any), clientId);
}

/** Open orders in ascending id. */
export function openOrders(state: ExchangeState, id: SubaccountId): OrderView[] {
  const table = state.orders;
  const views: OrderView[] = [];
  for (const slot of ownedOrders(state, state.subaccount(id))) views.push(viewOrder(table, slot));
  return views;
}

/** Live and retained orders that match the filter, newest update first. */
export function findOrders(
  state: ExchangeState,
  id: SubaccountId,
  filter: OrderFilter,
  limit: number,
  after?: OrderPlace,
): OrderList {
  const { orders: live, endedOrders: ended } = state;
  const subaccount = state.subaccount(id);
  const account = state.accounts.get(subaccount.account);
  const rows: RowFilter = {
    ...filter,
    subaccount: id,
    types: bitsOf(ORDER_TYPES, filter.types),
    statuses: bitsOf(ORDER_STATUSES, filter.statuses),
    timed:
      Math.max(filter.createdFromUs, filter.updatedFromUs) > 0 ||
      Math.min(filter.createdToUs, filter.updatedToUs) < Infinity,
  };
  const sinceUs = Math.max(filter.createdFromUs, filter.updatedFromUs);
  const follows = (table: OrderRows, slot: number): boolean => {
    if (after === undefined) return true;
    const later = after.updatedAtUs - table.updatedAtUs(slot);
    return later > 0 || (later === 0 && table.id(slot) < after.orderId);
  };
  const found: OrderView[] = [];
  let total = 0;
  for (const slot of ownedOrders(state, subaccount, filter.market)) {
    if (!live.matches(slot, rows)) continue;
    total += 1;
    if (follows(live, slot)) found.push(viewOrder(live, slot));
  }
  // Ended orders are sorted by update: the newest `limit`, and all of the last one's instant.
  const list = account.endedOrders;
  const byTags = !rows.timed && list.count * 3 > ended.rows;
  const matches = byTags ? ended.countMatches(rows) : Infinity;
  let seen = 0;
  let taken = 0;
  let lastUs = 0;
  let slot = matches === 0 ? NONE : list.tail;
  for (; slot !== NONE; slot = ended.prevOfOwner(list, slot)) {
    const page = ended.page(slot);
    const row = ended.rowOf(slot);
    // Creation precedes the update, so all following rows are too old.
    if (sinceUs > 0 && page.updatedAtUs(row) < sinceUs) break;
    if (!page.matches(row, rows)) continue;
    if (follows(page, row)) {
      if (taken < limit || page.updatedAtUs(row) === lastUs) {
        lastUs = page.updatedAtUs(row);
        found.push(viewOrder(page, row));
        taken += 1;
      } else if (byTags) break;
    }
    seen += 1;
    if (seen === matches) break;
  }
  total += byTags ? matches : seen;
  found.sort((a, b) => b.updatedAtUs - a.updatedAtUs || b.orderId - a.orderId);
  const keptSinceUs =
    account.endedOrdersCut && list.head !== NONE
      ? ended.page(list.head).updatedAtUs(ended.rowOf(list.head))
      : null;
  return { items: found.slice(0, limit), total, keptSinceUs };
}

/** Bitmask of the codes of the given words; all bits for null. */
function bitsOf<T extends string>(words: readonly T[], asked: readonly T[] | null): number {
  return (asked ?? words).reduce((bits, word) => bits | (1 << words.indexOf(word)), 0);
}

function viewOrder(table: OrderRows, slot: number): OrderView {
  const conditional = table.conditional(slot);
  return {
    orderId: table.id(slot),
    subaccount: table.subaccount(slot),
    market: table.market(slot),
    orderType: table.orderType(slot),
    status: table.status(slot),
    reason: table.reason(slot),
    lots: table.lots(slot),
    settledLots: table.settled(slot),
    remainingLots: table.remaining(slot),
    priceTicks: table.price(slot),
    ioc: table.isIoc(slot),
    postOnly: table.isPostOnly(slot),
    reduceOnly: table.isReduceOnly(slot),
    nonce: table.nonce(slot),
    expiresAtMs: table.expiresAtMs(slot),
    delegate: table.delegate(slot),
    clientId: table.clientId(slot),
    originator: table.originator(slot),
    originatorFeePpm: table.originatorFeePpm(slot),
    triggerTicks: conditional?.triggerTicks ?? null,
    trailingPpm: conditional?.trailingPpm ?? null,
    periodMs: conditional?.periodMs ?? null,
    attached: conditional?.attached ?? 'no',
    group: conditional?.group ?? null,
    sibling: conditional?.sibling ?? null,
    parent: conditional?.parent ?? null,
    createdAtUs: table.createdAtUs(slot),
    updatedAtUs: table.updatedAtUs(slot),
    lastUpdateSeq: table.lastUpdateSeq(slot),
  };
}
