/**
 * Effects of resting orders on an exposure: lots per side for margin, and price bounds (R-5.4,
 * Reduce-only orders only count.
 */
import { MAX_PRICE_TICKS } from '../../num/units.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import { hashOrderRested } from '../chain-hash/hash-event.ts';
import { noteReduced, noteRested } from '../margin/summed-orders.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';

/** Appends the unfilled part to the queue of its price; returns false if that is full (D-4). */
export function rest(state: State, slot: number, market: Market, exposure: Exposure): boolean {
  const table = state.orders;
  if (!market.book.append(slot)) return false;
  holdResting(state, slot, exposure);
  const { context } = state;
  context.markBookChanged(market);
  const id = table.id(slot);
  const price = table.price(slot);
  const remaining = table.remaining(slot);
  hashOrderRested(context.hashing(), context.causeInHash, id, price, remaining);
  if (context.hasSink) {
    context.deliver({
      kind: 'orderRested',
      seq: state.seq,
      index: context.nextIndex(),
      timeUs: state.nowUs,
      cause: context.cause,
      orderId: id,
      subaccount: table.subaccount(slot),
      market: market.id,
      priceTicks: price,
      remainingLots: remaining,
    });
  }
  return true;
}

/** Takes a resting order off the book, with its unfilled part. */
export function leaveBook(state: State, slot: number, exposure: Exposure): void {
  const market = state.market(exposure.market);
  releaseResting(state, slot, exposure);
  market.book.unlink(slot);
  if (market.tape.carry.size > 0) market.tape.carry.delete(state.orders.id(slot));
  state.context.markBookChanged(market);
}

/** Adds a resting order to the exposure. */
function holdResting(state: ExchangeState, slot: number, exposure: Exposure): void {
  const table = state.orders;
  exposure.openOrders += 1;
  if (table.isReduceOnly(slot)) {
    exposure.reduceOnlyOrders += 1;
    return;
  }
  widenBounds(exposure, table.side(slot), table.price(slot));
  if (table.side(slot) > 0) exposure.bidLots += table.left(slot);
  else exposure.askLots += table.left(slot);
  noteRested(state, slot, exposure);
}

/** Widens the price bounds of resting orders that are not reduce-only. */
export function widenBounds(exposure: Exposure, side: 1 | -1, price: number): void {
  if (price > exposure.highestPrice) exposure.highestPrice = price;
  if (side > 0) {
    if (price > exposure.highestBid) exposure.highestBid = price;
  } else if (price < exposure.lowestAsk) exposure.lowestAsk = price;
}

/** Subtracts an order that leaves the book from the exposure. */
function releaseResting(state: ExchangeState, slot: number, exposure: Exposure): void {
  exposure.openOrders -= 1;
  if (state.orders.isReduceOnly(slot)) exposure.reduceOnlyOrders -= 1;
  else shrinkResting(state, slot, state.orders.left(slot), exposure);
}

/** Subtracts `by` lots of a resting order, which it still has. */
export function shrinkResting(
  state: ExchangeState,
  slot: number,
  by: number,
  exposure: Exposure,
): void {
  const table = state.orders;
  if (table.isReduceOnly(slot)) return;
  if (exposure.resting !== null) noteReduced(state, slot, exposure.resting, by);
  releaseLots(table.side(slot), by, exposure);
}

function releaseLots(side: 1 | -1, by: number, exposure: Exposure): void {
  if (side > 0) {
    exposure.bidLots -= by;
    if (exposure.bidLots === 0) exposure.highestBid = 0;
  } else {
    exposure.askLots -= by;
    if (exposure.askLots === 0) exposure.lowestAsk = MAX_PRICE_TICKS;
  }
  if (exposure.bidLots === 0 && exposure.askLots === 0) exposure.highestPrice = 0;
}
