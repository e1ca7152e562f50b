/**
 * The house as a taker: historical trades and crossing levels fill users' resting orders at the
 * users' prices. The user is checked like any maker.
 */
import { lots } from '../../num/units.ts';
import { NONE } from '../book/order-table.ts';
import { NO_LEVEL, type PriceLadder } from '../book/price-ladder.ts';
import type { Market } from '../market/market.ts';
import { endOrder } from '../orders/end.ts';
import { executeFill, type TakerSide } from '../orders/fill.ts';
import { feesOf } from '../accounts/fees.ts';
import { NO_FEES } from '../accounts/order-fees.ts';
import { fillableLots, retireLeg } from '../orders/protective-orders.ts';
import { affordsFill } from '../margin/margin.ts';
import { isFrozen } from '../pricing/freshness.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';

/** First user order in the queue of a level, or NONE. */
export function firstUser(state: ExchangeState, ladder: PriceLadder, level: number): number {
  let slot = ladder.head(level);
  while (slot !== NONE && state.orders.isHouse(slot)) slot = state.orders.next(slot);
  return slot;
}

/** First house segment in the queue of a level, or NONE. */
export function firstHouse(state: ExchangeState, ladder: PriceLadder, level: number): number {
  let slot = ladder.head(level);
  while (slot !== NONE && !state.orders.isHouse(slot)) slot = state.orders.next(slot);
  return slot;
}

/** The house fills user orders of one side to a price, inclusive; returns the lots filled. */
export function takeUsers(
  state: State,
  market: Market,
  side: 1 | -1,
  reach: number,
  size: number,
): number {
  const ladder = market.book.ladder(side);
  let taken = 0;
  let level = ladder.bestLevel();
  while (level !== NO_LEVEL && taken < size) {
    const price = ladder.price(level);
    if (side > 0 ? price < reach : price > reach) break;
    const user = firstUser(state, ladder, level);
    const result = user === NONE ? undefined : takeUserOrder(state, market, user, size - taken);
    taken += result?.filled ?? 0;
    // Next level if no user is left here; otherwise rescan, since a fill may close the level.
    if (result === undefined || result.held) level = ladder.nextLevel(level);
    else level = ladder.find(price) === NO_LEVEL ? ladder.firstWorseThan(price) : level;
  }
  return taken;
}

/** The house fills a resting user order. At 0 lots filled it has left the book, unless `held`. */
export function takeUserOrder(
  state: State,
  market: Market,
  slot: number,
  size: number,
): { filled: number; held: boolean } {
  const table = state.orders;
  const maker = state.subaccount(table.subaccount(slot));
  const exposure = maker.exposure(market.id);
  const side = table.side(slot);
  let fill = Math.min(size, table.left(slot));
  const reduceOnly = table.isReduceOnly(slot);
  if (reduceOnly) fill = Math.min(fill, fillableLots(table, slot, exposure));
  if (fill === 0) {
    if (table.conditional(slot)?.leg === true) retireLeg(state, slot, exposure);
    else endOrder(state, slot, 'cancelled', 'reduceOnly');
    return { filled: 0, held: false };
  }
  // The house counts as opening, so it fills nothing in a frozen market (R-5.3b).
  if (isFrozen(market)) return { filled: 0, held: true };
  const price = table.price(slot);
  const fees = feesOf(state, slot, 'maker', fill, price);
  const affordable =
    market.markTicks !== null &&
    affordsFill(
      state,
      exposure,
      market,
      { lots: lots(side * fill), priceTicks: price, fees },
      reduceOnly ? NONE : slot,
    );
  if (!affordable) {
    endOrder(state, slot, 'cancelled', 'insufficientMargin');
    return { filled: 0, held: false };
  }
  executeFill(state, market, { slot, fees }, houseTaker(state), fill);
  return { filled: fill, held: false };
}

/** The house's side of a fill: it has no order and pays nothing. */
export function houseTaker({ houseTaker: subaccount }: ExchangeState): TakerSide {
  return { subaccount, slot: NONE, fees: NO_FEES };
}
