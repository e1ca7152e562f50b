/**
 * The synthetic book of a bar: one house level per side, `spreadTicks` apart around the price,
 * `depthLots` each. Every step replenishes it. At the bar's end it is placed again behind the
 * orders at its prices (D-67).
 *
 * A spread of 0 locks the market: the house bids and asks the same price, so users trade at the
 * price itself. The book is never crossed, and never locked against a user's order: a quote stays
 * one tick away from an order that it may not trade with.
 */
import { MAX_PRICE_TICKS, priceTicks } from '../../num/units.ts';
import { NONE } from '../book/order-table.ts';
import { NO_LEVEL, type PriceLadder } from '../book/price-ladder.ts';
import type { TapeBar } from '../commands.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { addHouse, clearHouse, houseLots } from './house.ts';
import { firstUser } from './house-take.ts';
import { stateMid } from './stated-mid.ts';

/** Moves both quotes around a price; unchanged ones keep their position unless `replaces`. */
export function quoteAround(
  state: State,
  market: Market,
  bar: TapeBar,
  price: number,
  replaces = false,
): void {
  const { spreadTicks, depthLots } = bar;
  const middle = price - (spreadTicks >> 1);
  const far = middle + spreadTicks;
  const bid = Math.min(middle, bestUser(state, market, -1) - 1);
  if (!moveAlone(state, market, 1, bid, depthLots)) {
    quote(state, market, 1, { price: bid, size: depthLots, replaces });
  }
  const ask = Math.max(far, bestUser(state, market, 1) + 1);
  if (!moveAlone(state, market, -1, ask, depthLots)) {
    quote(state, market, -1, { price: ask, size: depthLots, replaces });
  }
  stateMid(state, market, bid === middle && ask === far ? null : middle + far);
}

const isQuoted = (price: number): boolean => price >= 1 && price <= MAX_PRICE_TICKS;

/** Moves the only entry of a side, as most bars do; false if that is not all of the quote. */
function moveAlone(
  state: State,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): boolean {
  const { book } = market;
  if (size <= 0 || !isQuoted(price) || book.onlySegment(side) === NONE) return false;
  const ladder = book.ladder(side);
  const best = ladder.bestLevel();
  if (ladder.price(best) === price && ladder.houseTotal(best) === size) return true;
  state.context.markBookChanged(market);
  book.moveOnlySegment(side, priceTicks(price), size);
  return true;
}

interface Quote {
  readonly price: number;
  readonly size: number;
  readonly replaces: boolean;
}

/** One house level at this price, and no other on its side. */
function quote(state: State, market: Market, side: 1 | -1, { price, size, replaces }: Quote): void {
  const ladder = market.book.ladder(side);
  const best = ladder.bestLevel();
  if (best !== NO_LEVEL && ladder.price(best) === price && !replaces) {
    if (ladder.levelCount === 1 && ladder.houseTotal(best) === size) return;
  }
  const stays = isQuoted(price);
  for (let level = ladder.bestLevel(); level !== NO_LEVEL;) {
    const next = ladder.nextLevel(level);
    const at = ladder.price(level);
    if (ladder.houseTotal(level) > 0 && (replaces || !stays || at !== price)) {
      clearHouse(state, market, side, at);
    }
    level = next;
  }
  if (!stays) return;
  const standing = houseLots(market, side, price);
  if (standing === size) return;
  if (standing > size) clearHouse(state, market, side, price);
  addHouse(state, market, side, price, standing > size ? size : size - standing);
}

/** Whether a user's order rests on the level. */
function hasUser(state: ExchangeState, ladder: PriceLadder, level: number): boolean {
  if (ladder.total(level) === ladder.houseTotal(level)) return false;
  return firstUser(state, ladder, level) !== NONE;
}

/**
 * Price of the best user order on this side; −Infinity (bids) or Infinity (asks) if there is none.
 */
export function bestUser(state: ExchangeState, market: Market, side: 1 | -1): number {
  const ladder = market.book.ladder(side);
  if (market.book.onlySegment(side) !== NONE) return -side * Infinity;
  let level = ladder.bestLevel();
  while (level !== NO_LEVEL && !hasUser(state, ladder, level)) level = ladder.nextLevel(level);
  return level === NO_LEVEL ? -side * Infinity : ladder.price(level);
}

/** Price of the best user order on this side that is worse than a price; null if there is none. */
export function nextUser(
  state: ExchangeState,
  market: Market,
  side: 1 | -1,
  than: number,
): number | null {
  const ladder = market.book.ladder(side);
  let level = ladder.bestLevel();
  while (level !== NO_LEVEL) {
    const price = ladder.price(level);
    if (side * price < side * than && hasUser(state, ladder, level)) return price;
    level = ladder.nextLevel(level);
  }
  return null;
}
