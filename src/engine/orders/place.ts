/**
 * Placing an order (R-2.*). Refusals come first, in the order of, and leave no record. Then
 * the nonce is used and an id assigned. Then come rejections, which leave a record. Then the order
 * is accepted, matched, and rests or ends.
 */
import { hashText } from '../../base/slot-index.ts';
import { orderId, type OrderId } from '../../num/units.ts';
import type { Subaccount } from '../accounts/subaccount.ts';
import type { OrderTerms, PlaceOrder } from '../commands.ts';
import { hashOrderAccepted, hashOrderRejected } from '../chain-hash/hash-event.ts';
import type { EndReason, Outcome } from '../refusals.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { orderFault } from './admission.ts';
import { retain } from './end.ts';
import { execute } from './execute.ts';
import { watchExpiry } from './expiry.ts';
import { orderRefusal } from './order-refusal.ts';
import { disownOrder, ownOrder } from './owned-orders.ts';

export function placeOrder(state: State, command: PlaceOrder): Outcome {
  const refusal = orderRefusal(state, command, 'command', state);
  if (refusal !== null) return refusal;

  const market = state.market(command.market);
  const subaccount = state.subaccount(command.subaccount);
  subaccount.orderNonces.use(command.delegate, command.nonce);
  const id = state.nextOrderId;
  state.nextOrderId = orderId(id + 1);
  const exposure = subaccount.exposure(market.id);
  const slot = addOrder(state, command, id, subaccount, exposure);

  const fault = orderFault(state, subaccount, exposure, market, command);
  if (fault !== null) {
    reject(state, command, id, slot, fault);
    return 'ok';
  }
  accept(state, command, id, slot, subaccount);
  execute(state, slot, market, subaccount, exposure);
  return 'ok';
}

/** Puts the order into the table, as yet without status. */
export function addOrder(
  state: ExchangeState,
  terms: OrderTerms,
  id: OrderId,
  owner: Subaccount,
  exposure = owner.exposure(terms.market),
): number {
  const slot = state.orders.add(id, terms, state);
  ownOrder(state, owner, exposure, slot);
  return slot;
}

/** Accepts the order: from now on it is a live record. */
export function accept(
  state: State,
  terms: OrderTerms,
  id: OrderId,
  slot: number,
  subaccount: Subaccount,
): void {
  if (terms.clientId !== null) {
    state.clientIds.add(hashText(subaccount.account, terms.clientId), slot);
  }
  watchExpiry(state, slot, terms.expiresAtMs);
  const { context } = state;
  hashOrderAccepted(context.hashing(), context.causeInHash, id);
  if (context.hasSink) context.deliver(announcement(state, 'orderAccepted', terms, id));
}

/** Rejects the order, with a record. */
export function reject(
  state: State,
  terms: OrderTerms,
  id: OrderId,
  slot: number,
  reason: EndReason,
): void {
  const table = state.orders;
  const subaccount = state.subaccount(terms.subaccount);
  table.setStatus(slot, 'rejected', reason);
  const { context } = state;
  hashOrderRejected(context.hashing(), context.causeInHash, id, reason);
  if (context.hasSink)
    context.deliver({ ...announcement(state, 'orderRejected', terms, id), reason });
  disownOrder(state, subaccount, subaccount.exposure(terms.market), slot);
  retain(state, slot, subaccount);
  table.remove(slot);
}

/** The first event of an order's record, with its terms. */
function announcement<Kind extends 'orderAccepted' | 'orderRejected'>(
  state: State,
  kind: Kind,
  terms: OrderTerms,
  id: OrderId,
) {
  const { context } = state;
  return {
    kind,
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    orderId: id,
    subaccount: terms.subaccount,
    market: terms.market,
    orderType: terms.orderType,
    lots: terms.lots,
    priceTicks: terms.priceTicks,
    ioc: terms.ioc,
    postOnly: terms.postOnly,
    reduceOnly: terms.reduceOnly,
    nonce: terms.nonce,
    expiresAtMs: terms.expiresAtMs,
    delegate: terms.delegate,
    clientId: terms.clientId,
    originator: terms.originator,
    originatorFeePpm: terms.originatorFeePpm,
  };
}
