/**
 * How an order ends: it leaves book, exposure, owner's list and clientId index; its record goes to the
 * ended orders, of which each account keeps the newest. Terminal is terminal.
 */
import { hashText } from '../../base/slot-index.ts';
import { assert } from '../../base/assert.ts';
import { NONE } from '../book/order-table.ts';
import type { EndReason } from '../rejections.ts';
import type { State } from '../state.ts';
import { releaseResting } from './resting.ts';

/** Ends a live order. */
export function endOrder(
  state: State,
  slot: number,
  status: 'filled' | 'cancelled' | 'expired',
  reason: EndReason | null,
): void {
  const table = state.orders;
  const subaccount = state.subaccount(table.subaccount(slot));
  if (table.isResting(slot)) {
    const market = state.market(table.market(slot));
    releaseResting(table, slot, subaccount.exposure(market.id));
    market.book.unlink(slot);
    market.tape.carry.delete(table.id(slot));
    state.touch(market);
  }
  table.setStatus(slot, status, reason);
  table.touch(slot, state.nowUs, state.seq);
  table.unlinkOwner(subaccount.orders, slot);
  const clientId = table.clientId(slot);
  if (clientId !== null) state.clientIds.remove(hashText(subaccount.account, clientId), slot);
  if (table.hasTimer(slot)) state.expiring -= 1;
  state.emit({
    kind: 'orderEnded',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    orderId: table.id(slot),
    subaccount: subaccount.id,
    market: table.market(slot),
    status,
    reason,
    remainingLots: table.remaining(slot),
  });
  retain(state, slot);
  table.remove(slot);
}

/** Copies the order's last state into the account's ended orders, dropping the oldest beyond retention. */
export function retain(state: State, slot: number): void {
  const limit = state.config.retention.endedOrdersPerAccount;
  if (limit === 0) return;
  const ended = state.endedOrders;
  const account = state.accounts.get(state.subaccount(state.orders.subaccount(slot)).account);
  const list = account.endedOrders;
  ended.linkOwner(list, ended.addCopy(state.orders, slot));
  if (list.count <= limit) return;
  const oldest = list.head;
  assert(oldest !== NONE, 'a list over its limit has a head');
  account.endedOrdersCut = true;
  ended.unlinkOwner(list, oldest);
  ended.remove(oldest);
}
