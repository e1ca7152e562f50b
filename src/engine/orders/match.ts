/**
 * Matching: a taker against the other side of the book in price-time priority, until it is
 * filled, reaches its limit, or is stopped. Both sides are checked before each fill, so none is
 * undone.
 *
 * Checks at each resting order, in order: self-trade, reduce-only cuts, frozen
 * market (R-5.3b), taker margin, maker margin, open interest. A failing taker stops; a
 * failing maker is cancelled and matching continues. O(1) per resting order, without allocation.
 */
import { lots } from '../../num/units.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { Market } from '../market/market.ts';
import type { EndReason } from '../refusals.ts';
import { NO_FEES } from '../accounts/order-fees.ts';
import { affordsFill } from '../margin/margin.ts';
import { isFrozen } from '../pricing/freshness.ts';
import { bandLimit } from '../pricing/price-band.ts';
import type { State } from '../state.ts';
import { takeFromHouse } from '../tape/displacement.ts';
import { lotsWithinReach } from '../tape/reach.ts';
import { endOrder } from './end.ts';
import { runFill } from './fill.ts';
import { fillableLots, reducibleLots, retireLeg } from './protective-orders.ts';
import { selfTradeModeOf } from './self-trade.ts';

/** Matches a user's order. Returns the reason to end it now, or null if the rest may rest. */
export function matchOrder(
  state: State,
  market: Market,
  slot: number,
  taker: Subaccount,
  exposure: Exposure,
): EndReason | null {
  const table = state.orders;
  const side = table.side(slot);
  const limit = table.price(slot);
  const opposite = market.book.ladder(side > 0 ? -1 : 1);
  const best = opposite.bestLevel();
  if (best === NO_LEVEL) return null;
  const reduceOnly = table.isReduceOnly(slot);
  // Most orders rest without a fill: they need no band.
  const touch = opposite.price(best);
  if (!reduceOnly && (side > 0 ? touch > limit : touch < limit)) return null;
  const band = bandLimit(market, side);
  const frozen = isFrozen(market);
  const { context } = state;
  const { maker: gives, taker: takes } = context;

  while (table.left(slot) > 0) {
    // The order's own fills may have closed the position: then the rest must not rest.
    const reducible = reduceOnly ? fillableLots(table, slot, exposure) : Infinity;
    if (reducible === 0) return 'reduceOnly';
    const level = opposite.bestLevel();
    if (level === NO_LEVEL) return null;
    const price = opposite.price(level);
    if (side > 0 ? price > limit : price < limit) return null;
    if (side > 0 ? price > band : price < band) return 'priceBand';

    const makerSlot = opposite.head(level);
    const makerHouse = table.isHouse(makerSlot);
    const maker = state.subaccount(table.subaccount(makerSlot));

    if (maker.account === taker.account) {
      const mode = selfTradeModeOf(state, taker.account);
      if (mode !== 0) endOrder(state, makerSlot, 'cancelled', 'selfTrade');
      if (mode !== 1) return 'selfTrade';
      continue;
    }

    let size = Math.min(table.left(slot), table.left(makerSlot), reducible);
    const makerExposure = maker.exposure(market.id);
    if (table.isReduceOnly(makerSlot)) {
      size = Math.min(size, fillableLots(table, makerSlot, makerExposure));
      if (size === 0) {
        if (table.conditional(makerSlot)?.leg === true) retireLeg(state, makerSlot, makerExposure);
        else endOrder(state, makerSlot, 'cancelled', 'reduceOnly');
        continue;
      }
    }
    if (frozen) {
      // Only lots that both sides reduce; the house counts as opening.
      const takerReducible = reducibleLots(exposure, side);
      if (takerReducible === 0 || makerHouse) return 'staleIndex';
      const makerReducible = reducibleLots(makerExposure, side > 0 ? -1 : 1);
      if (makerReducible === 0) {
        endOrder(state, makerSlot, 'cancelled', 'staleIndex');
        continue;
      }
      size = Math.min(size, takerReducible, makerReducible);
    }

    if (makerHouse && market.impact !== null) {
      const makerSide = side > 0 ? -1 : 1;
      size = Math.min(size, lotsWithinReach(state, market, market.impact, makerSide, price));
    }

    const takerLots = lots(side * size);
    const takerFees = context.takerFees.set(state, slot, size, price);
    takes.setDeal(takerLots, price, takerFees);
    if (!affordsFill(state, exposure, market, takes, NONE)) return 'insufficientMargin';
    if (makerHouse) gives.setDeal(-takerLots, price, NO_FEES);
    else {
      gives.setDeal(-takerLots, price, context.makerFees.set(state, makerSlot, size, price));
      const resting = table.isReduceOnly(makerSlot) ? NONE : makerSlot;
      if (!affordsFill(state, makerExposure, market, gives, resting)) {
        endOrder(state, makerSlot, 'cancelled', 'insufficientMargin');
        continue;
      }
    }
    if (raisesOpenInterestBeyondLimit(market, exposure, makerExposure, takerLots)) {
      return 'openInterest';
    }

    gives.slot = makerSlot;
    takes.slot = slot;
    runFill(state, market, taker);
    if (makerHouse) takeFromHouse(state, market, side > 0 ? -1 : 1, price, size);
  }
  return null;
}

function raisesOpenInterestBeyondLimit(
  market: Market,
  taker: Exposure,
  maker: Exposure,
  takerLots: number,
): boolean {
  const growth =
    longGrowth(taker.positionLots, takerLots) + longGrowth(maker.positionLots, -takerLots);
  return growth > 0 && market.openInterestLots + growth > market.openInterestCapLots;
}

function longGrowth(position: number, fill: number): number {
  return Math.max(position + fill, 0) - Math.max(position, 0);
}
