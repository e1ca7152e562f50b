/**
 * Placing an order (R-2.*): refusals first, in the order of, none of which leaves a trace; then the nonce is used
 * and the order has a number; then the rejections that leave a record; then it is accepted, matched, and rests or ends.
 */
import { hashText } from '../../base/slot-index.ts';
import { MAX_PRICE_TICKS, orderId, type OrderId } from '../../num/units.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { PlaceOrder } from '../commands.ts';
import type { Market } from '../market/market.ts';
import type { EndReason, Outcome, Refusal } from '../rejections.ts';
import { affordsOrder } from '../risk/margin.ts';
import { isBeyondRestingLimit } from '../risk/price-band.ts';
import type { State } from '../state.ts';
import { endOrder, retain } from './end.ts';
import { isExpired, watchExpiry } from './expiry.ts';
import { reducibleLots } from './fill.ts';
import { matchOrder } from './match.ts';
import { holdResting } from './resting.ts';

export function placeOrder(state: State, command: PlaceOrder): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return 'market_not_found';
  const subaccount = state.accounts.subaccounts[command.subaccount];
  if (subaccount?.role !== 'user') return 'subaccount_not_found';
  const refusal = refusalOf(state, command, subaccount, market);
  if (refusal !== null) return refusal;

  subaccount.orderNonces.use(command.delegate, command.nonce);
  const id = state.nextOrderId;
  state.nextOrderId = orderId(id + 1);
  const slot = addOrder(state, command, id, subaccount);
  const exposure = subaccount.exposure(market.id);

  const rejection = rejectionOf(state, command, subaccount, exposure, market);
  if (rejection !== null) {
    reject(state, command, id, slot, subaccount, rejection);
    return 'ok';
  }
  accept(state, command, id, slot, subaccount);

  const stop = matchOrder(state, market, slot, subaccount, exposure);
  // The order may have left the table: nothing but its own fills ends it while it matches, and they leave it here.
  if (state.orders.left(slot) === 0) endOrder(state, slot, 'filled', null);
  else if (stop !== null) endOrder(state, slot, 'cancelled', stop);
  else if (command.ioc) endOrder(state, slot, 'cancelled', 'iocRemainder');
  else rest(state, slot, market, exposure);
  return 'ok';
}

/** Refusals that need more than the command's own addresses, in precedence order. */
function refusalOf(
  state: State,
  command: PlaceOrder,
  subaccount: Subaccount,
  market: Market,
): Refusal | null {
  if (isExpired(state.nowUs, command.expiresAtMs)) return 'request_expired';
  const nonce = subaccount.orderNonces.check(command.delegate, command.nonce);
  if (nonce !== null) return nonce;
  if (command.clientId !== null && findClientId(state, subaccount, command.clientId) !== NONE) {
    return 'client_id_in_use';
  }
  const spec = market.spec;
  if (command.priceTicks <= 0) return 'price_not_positive';
  if (command.priceTicks > Math.min(spec.maxPriceTicks, MAX_PRICE_TICKS)) return 'price_too_high';
  const size = Math.abs(command.lots);
  if (size === 0) return 'quantity_zero';
  if (size < spec.minLots) return 'quantity_below_minimum';
  if (size > spec.maxLots) return 'quantity_above_maximum';
  if (command.ioc && command.postOnly) return 'flags_conflict';
  const feeLimit =
    command.delegate === null
      ? state.config.maxOriginatorFeePpm
      : state.config.maxDelegateOriginatorFeePpm;
  if (command.originatorFeePpm > feeLimit) return 'originator_fee_too_high';
  if (command.originator === null && command.originatorFeePpm !== 0) return 'originator_missing';
  if (command.orderType !== 'limit') return 'order_type_unsupported';
  return null;
}

/** Rejections in precedence order. */
function rejectionOf(
  state: State,
  command: PlaceOrder,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
): EndReason | null {
  if (market.markTicks === null) return 'priceBand';
  if (!command.ioc && isBeyondRestingLimit(market, command.priceTicks)) return 'priceBand';
  const side = command.lots > 0 ? 1 : -1;
  if (command.postOnly && wouldCross(market, side, command.priceTicks)) {
    return 'postOnlyWouldCross';
  }
  const spec = market.spec;
  if (command.reduceOnly && reducibleLots(exposure, side) === 0) return 'reduceOnly';
  if (!command.ioc && exposure.openOrders >= spec.maxOpenOrders) return 'openOrders';
  if (command.reduceOnly) return null;
  const opening = Math.abs(exposure.positionLots + command.lots) - Math.abs(exposure.positionLots);
  if (opening > 0 && market.openInterestLots + opening > spec.maxOpenInterestLots) {
    return 'openInterest';
  }
  return affordsOrder(
    state,
    subaccount,
    exposure,
    market,
    command.lots,
    command.priceTicks,
    command.ioc,
    command.originatorFeePpm,
  )
    ? null
    : 'insufficientMargin';
}

function wouldCross(market: Market, side: 1 | -1, price: number): boolean {
  const opposite = market.book.ladder(side > 0 ? -1 : 1);
  const level = opposite.bestLevel();
  if (level === NO_LEVEL) return false;
  return side > 0 ? opposite.price(level) <= price : opposite.price(level) >= price;
}

function addOrder(state: State, command: PlaceOrder, id: OrderId, owner: Subaccount): number {
  const slot = state.orders.add(id, command, state.nowUs, state.seq);
  state.orders.linkOwner(owner.orders, slot);
  return slot;
}

function accept(
  state: State,
  command: PlaceOrder,
  id: OrderId,
  slot: number,
  subaccount: Subaccount,
): void {
  if (command.clientId !== null) {
    state.clientIds.add(hashText(subaccount.account, command.clientId), slot);
  }
  watchExpiry(state, slot, command.expiresAtMs);
  state.emit({
    kind: 'orderAccepted',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    orderId: id,
    subaccount: command.subaccount,
    market: command.market,
    orderType: command.orderType,
    lots: command.lots,
    priceTicks: command.priceTicks,
    ioc: command.ioc,
    postOnly: command.postOnly,
    reduceOnly: command.reduceOnly,
    nonce: command.nonce,
    expiresAtMs: command.expiresAtMs,
    delegate: command.delegate,
    clientId: command.clientId,
    originator: command.originator,
    originatorFeePpm: command.originatorFeePpm,
  });
}

function reject(
  state: State,
  command: PlaceOrder,
  id: OrderId,
  slot: number,
  subaccount: Subaccount,
  reason: EndReason,
): void {
  const table = state.orders;
  table.setStatus(slot, 'rejected', reason);
  state.emit({
    kind: 'orderRejected',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    orderId: id,
    subaccount: command.subaccount,
    market: command.market,
    orderType: command.orderType,
    lots: command.lots,
    priceTicks: command.priceTicks,
    ioc: command.ioc,
    postOnly: command.postOnly,
    reduceOnly: command.reduceOnly,
    nonce: command.nonce,
    expiresAtMs: command.expiresAtMs,
    delegate: command.delegate,
    clientId: command.clientId,
    originator: command.originator,
    originatorFeePpm: command.originatorFeePpm,
    reason,
  });
  table.unlinkOwner(subaccount.orders, slot);
  retain(state, slot);
  table.remove(slot);
}

/** What is left goes to the back of the queue of its price. */
function rest(state: State, slot: number, market: Market, exposure: Exposure): void {
  const table = state.orders;
  market.book.append(slot);
  holdResting(table, slot, exposure);
  state.touch(market);
  state.emit({
    kind: 'orderRested',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    orderId: table.id(slot),
    subaccount: table.subaccount(slot),
    market: market.id,
    priceTicks: table.price(slot),
    remainingLots: table.remaining(slot),
  });
}

/** Slot of the live order of this account with this clientId, or NONE. */
export function findClientId(state: State, subaccount: Subaccount, clientId: string): number {
  return state.clientIds.find(hashText(subaccount.account, clientId), (slot) => {
    if (state.orders.clientId(slot) !== clientId) return false;
    return state.subaccount(state.orders.subaccount(slot)).account === subaccount.account;
  });
}
