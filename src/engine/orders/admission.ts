/**
 * Admission checks of an order. Refusals check its terms against the market and leave no
 * record. Faults check an admitted order against book, position and margin, at placement and at
 * activation, in the order of.
 */
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { Lots, PriceTicks } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import type { EndReason } from '../refusals.ts';
import { isFrozen } from '../pricing/freshness.ts';
import { affordsOrder, type OrderRisk } from '../margin/margin.ts';
import { isBeyondRestingLimit } from '../pricing/price-band.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { fillableLots, reducibleLots } from './protective-orders.ts';

/** Terms common to all orders. */
export interface Terms extends OrderRisk {
  readonly postOnly: boolean;
  readonly reduceOnly: boolean;
}

/** Why a new order that goes to the book at once is rejected. */
export function orderFault(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
  terms: Terms,
): EndReason | null {
  const { ioc, postOnly, reduceOnly } = terms;
  const fault =
    marketFault(market, exposure, terms.lots, postOnly, reduceOnly) ??
    bookFault(market, terms.lots, terms.priceTicks, ioc, postOnly);
  if (fault !== null) return fault;
  const side = terms.lots > 0 ? 1 : -1;
  if (terms.reduceOnly && reducibleLots(exposure, side) === 0) return 'reduceOnly';
  if (!terms.ioc && isFull(exposure, market)) return 'openOrders';
  if (terms.reduceOnly) return null;
  return riskFault(state, subaccount, exposure, market, terms);
}

/**
 * Reason to reject a new order that is first pending. Book and margin are checked at activation.
 */
export function pendingFault(
  exposure: Exposure,
  market: Market,
  terms: Terms,
  needsPosition: boolean,
): EndReason | null {
  const fault = statusFault(market, exposure, terms.lots, terms.postOnly, terms.reduceOnly);
  if (fault !== null) return fault;
  if (market.markTicks === null) return 'noMarkPrice';
  const side = terms.lots > 0 ? 1 : -1;
  if (needsPosition && reducibleLots(exposure, side) === 0) return 'reduceOnly';
  return isFull(exposure, market) ? 'openOrders' : null;
}

/** Reason to reject a pending order at activation. It already counts as open. */
export function activationFault(
  state: ExchangeState,
  slot: number,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
): EndReason | null {
  const table = state.orders;
  const ioc = table.isIoc(slot);
  const postOnly = table.isPostOnly(slot);
  const reduceOnly = table.isReduceOnly(slot);
  const fault =
    marketFault(market, exposure, table.remaining(slot), postOnly, reduceOnly) ??
    bookFault(market, table.lots(slot), table.price(slot), ioc, postOnly);
  if (fault !== null) return fault;
  if (reduceOnly) {
    return fillableLots(table, slot, exposure) === 0 ? 'reduceOnly' : null;
  }
  return riskFault(state, subaccount, exposure, market, {
    lots: table.remaining(slot),
    priceTicks: table.price(slot),
    ioc,
    originatorFeePpm: table.originatorFeePpm(slot),
  });
}

/** The same for an order that only rests, since it does not cross. */
export function restingFault(
  state: ExchangeState,
  slot: number,
  market: Market,
  exposure: Exposure,
): EndReason | null {
  const subaccount = state.subaccount(state.orders.subaccount(slot));
  return activationFault(state, slot, subaccount, exposure, market);
}

/** Faults of the market's state: its status, then a missing or frozen mark. */
function marketFault(
  market: Market,
  exposure: Exposure,
  lots: Lots,
  postOnly: boolean,
  reduceOnly: boolean,
): EndReason | null {
  if (market.status !== 'open') {
    const fault = statusFault(market, exposure, lots, postOnly, reduceOnly);
    if (fault !== null) return fault;
  }
  if (market.markTicks === null) return 'noMarkPrice';
  if (!isFrozen(market) || reduceOnly || onlyReduces(exposure, lots)) return null;
  return 'staleIndex';
}

/** Orders that a status excludes. */
function statusFault(
  market: Market,
  exposure: Exposure,
  lots: Lots,
  postOnly: boolean,
  reduceOnly: boolean,
): EndReason | null {
  switch (market.status) {
    case 'open':
      return null;
    case 'postOnly':
      return postOnly ? null : 'halted';
    case 'reduceOnly':
      return reduceOnly || onlyReduces(exposure, lots) ? null : 'halted';
    case 'delisted':
      return 'delisted';
    default:
      return 'halted';
  }
}

/** Whether the order plus its side's resting lots stay within the position (D-8). */
function onlyReduces({ positionLots, bidLots, askLots }: Exposure, lots: Lots): boolean {
  return lots > 0 ? bidLots + lots <= -positionLots : askLots - lots <= positionLots;
}

function bookFault(
  market: Market,
  lots: number,
  price: PriceTicks,
  ioc: boolean,
  postOnly: boolean,
): EndReason | null {
  if (!ioc && isBeyondRestingLimit(market, price)) return 'priceBand';
  return postOnly && wouldCross(market, lots > 0 ? 1 : -1, price) ? 'postOnlyWouldCross' : null;
}

function isFull(exposure: Exposure, market: Market): boolean {
  return exposure.openOrders + exposure.pendingOrders >= market.spec.maxOpenOrders;
}

function riskFault(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
  order: OrderRisk,
): EndReason | null {
  const { positionLots, bidLots, askLots } = exposure;
  // Margin is computed of these sums, which must stay safe integers.
  const resting = (order.lots > 0 ? bidLots : askLots) + Math.abs(order.lots);
  const most = Math.max(resting, resting + Math.sign(order.lots) * positionLots);
  if (most > Number.MAX_SAFE_INTEGER) return 'openInterest';
  const opening = Math.abs(positionLots + order.lots) - Math.abs(positionLots);
  if (opening > 0 && market.openInterestLots + opening > market.openInterestCapLots) {
    return 'openInterest';
  }
  return affordsOrder(state, subaccount, exposure, market, order) ? null : 'insufficientMargin';
}

function wouldCross(market: Market, side: 1 | -1, price: number): boolean {
  const opposite = market.book.ladder(side > 0 ? -1 : 1);
  const level = opposite.bestLevel();
  if (level === NO_LEVEL) return false;
  return side > 0 ? opposite.price(level) <= price : opposite.price(level) >= price;
}
