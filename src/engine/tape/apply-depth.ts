/**
 * Historical depth: sets a level to its venue's size. Volume that crosses a user's order and that
 * no user has taken yet first trades with it, at the user's price. House volume that the level
 * crosses contradicts the recording and is removed. Then the level's house volume moves to its
 * target: growth joins the back of the queue, a decrease goes through the queue model. No house
 * volume stands across a user's order. History is never refused.
 *
 * Under `squareRoot` impact the volume of a level within reach is hidden.
 */
import type { TapeDepth, TapeLevel } from '../commands.ts';
import { NONE } from '../book/order-table.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { Market } from '../market/market.ts';
import type { Outcome } from '../refusals.ts';
import type { State } from '../state.ts';
import { capTaken, displacedLots, noteDivergence, noteTaken } from './displacement.ts';
import { addHouse, clearHouse, decreaseHouse, houseLots } from './house.ts';
import { firstUser, takeUserOrder } from './house-take.ts';
import {
  dropCrossed,
  hide,
  hideWithinReach,
  isWithinReach,
  pricesBeyondReach,
  unhide,
} from './reach.ts';
import type { SquareRoot } from './square-root.ts';
import { stateMid } from './stated-mid.ts';
import { emitTape } from './tape-event.ts';
import { lots, MAX_PRICE_TICKS, priceTicks } from '../../num/units.ts';

export function applyDepth(state: State, command: TapeDepth): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  if (market.status === 'delisted') return { code: 'market_delisted' };
  if (!command.levels.every(isLevel)) return { code: 'tape_level_invalid' };
  state.context.cause = 'tape';
  if (!market.tape.stale) {
    for (const level of command.levels) applyLevel(state, market, level);
    settleReach(state, market);
    stateMid(state, market, null);
  }
  emitTape(state, market, 'depth', market.tape.stale);
  return 'ok';
}

/** Whether a level's numbers are valid in a book. */
export function isLevel(level: TapeLevel): boolean {
  return (
    Number.isSafeInteger(level.priceTicks) &&
    level.priceTicks > 0 &&
    level.priceTicks <= MAX_PRICE_TICKS &&
    Number.isSafeInteger(level.lots) &&
    level.lots >= 0
  );
}

export function applyLevel(state: State, market: Market, level: TapeLevel): void {
  const side = level.side === 'bid' ? 1 : -1;
  const found = market.tape.findTaken(side, level.priceTicks);
  if (found !== undefined) {
    capTaken(state, market, found, level.lots);
    noteDivergence(market, found, level.lots);
    if (found.taken === 0) market.tape.endTaken(side, level.priceTicks);
  }
  placeLevel(state, market, level);
}

function placeLevel(state: State, market: Market, level: TapeLevel): void {
  if (market.impact !== null) placeWithReach(state, market, market.impact, level);
  else moveHouse(state, market, level, targetOf(state, market, level, false));
}

/** Under square-root impact: hides the level within reach, and shows it beyond. */
function placeWithReach(state: State, market: Market, impact: SquareRoot, level: TapeLevel): void {
  const side = level.side === 'bid' ? 1 : -1;
  const { priceTicks: price, lots: size } = level;
  const hides = size > 0 && isWithinReach(state, market, impact, side, price);
  if (size > 0) dropCrossed(impact, side, price);
  const before = market.tape.findTaken(side, price)?.taken ?? 0;
  const target = targetOf(state, market, level, hides);
  const traded = (market.tape.findTaken(side, price)?.taken ?? 0) - before;
  unhide(state, market, impact, { side, price, traded });
  moveHouse(state, market, level, target);
  if (size > 0 && (hides || target === 0)) hide(state, market, impact, side, price);
}

/**
 * House lots of a level as history states it, after its trades with users' orders that it crosses.
 * A level that is hidden trades with none.
 */
function targetOf(state: State, market: Market, level: TapeLevel, hides: boolean): number {
  const { priceTicks: price, lots: size } = level;
  if (size === 0) return 0;
  const side = level.side === 'bid' ? 1 : -1;
  const found = market.tape.findTaken(side, price);
  const untaken = hides ? 0 : size - (found?.taken ?? 0);
  const { traded, blocked } = crossOpposite(state, market, side, price, untaken);
  if (traded > 0) noteTaken(state, market, side, price, traded);
  const now = traded > 0 ? market.tape.findTaken(side, price) : found;
  const gone = now === undefined ? 0 : displacedLots(state, market, now);
  return blocked && !hides ? 0 : Math.max(0, size - Math.max(gone, traded));
}

/** Moves the house volume of the level to its target. */
function moveHouse(state: State, market: Market, level: TapeLevel, target: number): void {
  const side = level.side === 'bid' ? 1 : -1;
  const price = level.priceTicks;
  const standing = houseLots(market, side, price);
  if (target > standing) addHouse(state, market, side, price, target - standing);
  else if (target < standing) decreaseHouse(state, market, side, price, standing - target);
}

/**
 * After an update of history: hides levels within reach, and places hidden levels beyond it again,
 * as history last stated them.
 */
export function settleReach(state: State, market: Market): void {
  const { impact } = market;
  if (impact === null) return;
  let placed = false;
  for (const side of [1, -1] as const) {
    hideWithinReach(state, market, impact, side);
    for (const price of pricesBeyondReach(state, market, impact, side)) {
      const taken = market.tape.findTaken(side, price)?.taken ?? 0;
      const size = lots(impact.hiddenAt(side, price) + taken);
      const name = side > 0 ? 'bid' : 'ask';
      placeLevel(state, market, { side: name, priceTicks: priceTicks(price), lots: size });
      placed = true;
    }
  }
  if (!placed) return;
  // A placed level ends those that it crosses: then the other side has another recorded best.
  for (const side of [1, -1] as const) hideWithinReach(state, market, impact, side);
}

interface Crossing {
  readonly traded: number;
  readonly blocked: boolean;
}

const NOT_CROSSED: Crossing = { traded: 0, blocked: false };

/**
 * Trades up to `size` lots of house volume against users' orders that it crosses, and removes
 * crossed house volume. `blocked`: a user's order that it crosses stays.
 */
export function crossOpposite(
  state: State,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): Crossing {
  const opposite = market.book.ladder(side > 0 ? -1 : 1);
  let traded = 0;
  const { context } = state;
  for (;;) {
    const level = opposite.bestLevel();
    if (level === NO_LEVEL) return traded === 0 ? NOT_CROSSED : { traded, blocked: false };
    const best = opposite.price(level);
    if (side > 0 ? best > price : best < price) {
      return traded === 0 ? NOT_CROSSED : { traded, blocked: false };
    }
    const user = firstUser(state, opposite, level);
    if (user === NONE) {
      clearHouse(state, market, side > 0 ? -1 : 1, best);
      continue;
    }
    if (traded >= size) return { traded, blocked: true };
    context.cause = 'tapeCross';
    const { filled, held } = takeUserOrder(state, market, user, size - traded);
    context.cause = 'tape';
    traded += filled;
    if (held) return { traded, blocked: true };
  }
}
