/**
 * Hidden levels: house lots within reach of the square-root impact leave the book. For
 * history they are the front of their level's queue: their level keeps them as a number of lots.
 */
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { addHouseInFront, clearHouse, houseLots } from './house.ts';
import type { SquareRoot } from './square-root.ts';

/** Whether a level that history states at this price is within reach of the recorded best. */
export function isWithinReach(
  { nowUs }: Pick<ExchangeState, 'nowUs'>,
  market: Market,
  impact: SquareRoot,
  side: 1 | -1,
  price: number,
): boolean {
  const reach = impact.reach(nowUs, side);
  if (reach === 0) return false;
  const best = recordedBest(market, impact, side);
  return best === 0 || side * (best - price) < reach;
}

/** Hides house levels within reach, best first. */
export function hideWithinReach(
  state: State,
  market: Market,
  impact: SquareRoot,
  side: 1 | -1,
): void {
  const reach = impact.reach(state.nowUs, side);
  if (reach === 0) return;
  const best = recordedBest(market, impact, side);
  if (best === 0) return;
  const ladder = market.book.ladder(side);
  for (let level = ladder.bestLevel(); level !== NO_LEVEL;) {
    const price = ladder.price(level);
    if (side * (best - price) >= reach) return;
    const next = ladder.nextLevel(level);
    if (ladder.houseTotal(level) > 0) hide(state, market, impact, side, price);
    level = next;
  }
}

/** Moves the house lots of the level out of the book. */
export function hide(
  state: State,
  market: Market,
  impact: SquareRoot,
  side: 1 | -1,
  price: number,
): void {
  const hidden = impact.hiddenAt(side, price);
  impact.withheld(side).set(price, hidden + houseLots(market, side, price));
  clearHouse(state, market, side, price);
}

/** Moves hidden lots to the front of their queue, less those that traded with users just now. */
export function unhide(
  state: State,
  market: Market,
  impact: SquareRoot,
  {
    side,
    price,
    traded,
  }: { readonly side: 1 | -1; readonly price: number; readonly traded: number },
): void {
  const hidden = impact.hiddenAt(side, price);
  impact.withheld(side).delete(price);
  addHouseInFront(state, market, side, price, Math.max(0, hidden - traded));
}

/** Prices of hidden levels beyond reach, best first. */
export function pricesBeyondReach(
  state: State,
  market: Market,
  impact: SquareRoot,
  side: 1 | -1,
): number[] {
  const withheld = impact.withheld(side);
  if (withheld.size === 0) return [];
  const reach = impact.reach(state.nowUs, side);
  const best = recordedBest(market, impact, side);
  const prices: number[] = [];
  withheld.forEach((hidden, price) => {
    if (hidden > 0 && side * (best - price) >= reach) prices.push(price);
  });
  return prices.sort((a, b) => side * (b - a));
}

/** History's level crosses withheld levels of the other side: they are gone. */
export function dropCrossed(impact: SquareRoot, side: 1 | -1, price: number): void {
  const withheld = impact.withheld(side > 0 ? -1 : 1);
  if (withheld.size === 0) return;
  withheld.forEach((_, other) => {
    if (side * (price - other) >= 0) withheld.delete(other);
  });
}

/** Max lots that a taker may take of this house level, at least 1. */
export function lotsWithinReach(
  state: State,
  market: Market,
  impact: SquareRoot,
  side: 1 | -1,
  price: number,
): number {
  const best = recordedBest(market, impact, side);
  return impact.lotsWithin(state.nowUs, side, side * (best - price));
}

/** Best price of a side at which history states volume, in the book or not; 0 if none. */
function recordedBest(market: Market, impact: SquareRoot, side: 1 | -1): number {
  const ladder = market.book.ladder(side);
  let level = ladder.bestLevel();
  while (level !== NO_LEVEL && ladder.houseTotal(level) === 0) level = ladder.nextLevel(level);
  let best: number = level === NO_LEVEL ? 0 : ladder.price(level);
  impact.withheld(side).forEach((_, price) => {
    if (best === 0 || side * (price - best) > 0) best = price;
  });
  return best;
}
