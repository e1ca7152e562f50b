/**
 * End of an order: its record leaves all live indices and joins the ended orders.
 */
import type { Subaccount } from '../accounts/subaccount.ts';
import type { EndReason } from '../refusals.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { disownOrder } from './owned-orders.ts';
import { leaveBook } from './resting.ts';
import type { Special } from './conditional.ts';
import { stopWaiting } from './pending.ts';
import { hashOrderEnded } from '../chain-hash/hash-event.ts';

/** Ends a live order. */
export function endOrder(
  state: State,
  slot: number,
  status: 'filled' | 'cancelled' | 'expired',
  reason: EndReason | null,
): void {
  const table = state.orders;
  const subaccount = state.subaccount(table.subaccount(slot));
  const exposure = subaccount.exposure(table.market(slot));
  const waited = table.isWaiting(slot);
  if (table.isResting(slot)) leaveBook(state, slot, exposure);
  else if (waited) stopWaiting(state, slot, exposure);
  table.setStatus(slot, status, reason);
  table.markBookChanged(slot, state);
  disownOrder(state, subaccount, exposure, slot);
  const clientId = table.clientIds.hash(slot, subaccount.account);
  if (clientId !== null) state.clientIds.remove(clientId, slot);
  if (table.hasTimer(slot)) state.expiring -= 1;
  const id = table.id(slot);
  const remaining = table.remaining(slot);
  const code = table.statusCode(slot);
  const { context } = state;
  hashOrderEnded(
    context.hashing(),
    context.causeInHash,
    id,
    code,
    table.reasonCode(slot),
    remaining,
  );
  if (context.hasSink) {
    context.deliver({
      kind: 'orderEnded',
      seq: state.seq,
      index: context.nextIndex(),
      timeUs: state.nowUs,
      cause: context.cause,
      orderId: id,
      subaccount: subaccount.id,
      market: table.market(slot),
      status,
      reason,
      remainingLots: remaining,
    });
  }
  const conditional = table.conditional(slot);
  if (conditional !== null) notifyRelatives(state, slot, conditional, status, waited);
  retain(state, slot, subaccount);
  table.remove(slot);
}

/** Queues the effects on related orders until the command's own work is done. */
function notifyRelatives(
  state: State,
  slot: number,
  conditional: Special,
  status: string,
  waited: boolean,
): void {
  const table = state.orders;
  if (conditional.leg) {
    state.subaccount(table.subaccount(slot)).exposure(table.market(slot)).legs -= 1;
  }
  const { context } = state;
  if (conditional.legs.length > 0)
    context.pendingEffects.push({ kind: 'parent', legs: conditional.legs });
  // For an iceberg, only the end of the shown slice ends the others.
  if (table.orderType(slot) === 'iceberg' && status !== 'filled' && !waited) {
    context.pendingEffects.push({
      kind: 'slices',
      after: table.id(slot),
      last: conditional.groupLast,
    });
  }
}

/**
 * Copies the order's final state to the account's ended orders; drops the oldest beyond retention.
 */
export function retain(
  state: ExchangeState,
  slot: number,
  { account, endedOrders }: Subaccount,
): void {
  const limit = state.config.retention.endedOrdersPerAccount;
  if (limit === 0) return;
  const isCut = state.endedOrders.add(endedOrders, state.orders, slot, limit);
  if (isCut) state.accounts.get(account).endedOrdersCut = true;
}
