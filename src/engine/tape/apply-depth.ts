/**
 * Historical depth: sets a level to its venue's size. New volume that crosses a user's
 * order first trades with it, at the user's price. House volume that the level crosses contradicts
 * the recording and is removed. Then the level's house volume moves to its target: growth joins the
 * back of the queue, a decrease goes through the queue model. History is never refused.
 */
import type { TapeDepth, TapeLevel } from '../commands.ts';
import { NONE } from '../book/order-table.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { Market } from '../market/market.ts';
import type { Outcome } from '../refusals.ts';
import type { State } from '../state.ts';
import { displacedLots, noteDisplaced } from './displacement.ts';
import { addHouse, clearHouse, decreaseHouse, houseLots } from './house.ts';
import { firstUser, takeUserOrder } from './house-take.ts';
import { emitTape } from './tape-event.ts';
import { MAX_PRICE_TICKS } from '../../num/units.ts';

export function applyDepth(state: State, command: TapeDepth): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  if (market.status === 'delisted') return { code: 'market_delisted' };
  if (!command.levels.every(isLevel)) return { code: 'tape_level_invalid' };
  state.context.cause = 'tape';
  if (!market.tape.stale) for (const level of command.levels) applyLevel(state, market, level);
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
  const price = level.priceTicks;
  const crossed = level.lots === 0 ? 0 : crossOpposite(state, market, side, price, level.lots);
  if (crossed > 0) noteDisplaced(state, market, side, price, crossed);

  const impact = market.spec.impactModel;
  const gone = impact === 'none' ? crossed : displacedLots(state, market, side, price);
  const target = Math.max(0, level.lots - gone);
  const standing = houseLots(market, side, price);
  if (target > standing) addHouse(state, market, side, price, target - standing);
  else if (target < standing) decreaseHouse(state, market, side, price, standing - target);
  if (level.lots === 0) forgetDisplaced(market, side, price);
}

/** Resets the displacement of an emptied level; its credit remains for a late trade. */
function forgetDisplaced(market: Market, side: 1 | -1, price: number): void {
  const level = market.tape.find(side, price);
  if (level === undefined) return;
  level.displaced = 0;
  if (level.creditFront === 0 && level.creditBack === 0) market.tape.forget(side, price);
}

/** Trades new house volume against users' orders that it crosses; returns the lots traded. */
export function crossOpposite(
  state: State,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): number {
  const opposite = market.book.ladder(side > 0 ? -1 : 1);
  let traded = 0;
  const { context } = state;
  while (traded < size) {
    const level = opposite.bestLevel();
    if (level === NO_LEVEL) break;
    const best = opposite.price(level);
    if (side > 0 ? best > price : best < price) break;
    const user = firstUser(state, opposite, level);
    if (user === NONE) {
      clearHouse(state, market, side > 0 ? -1 : 1, best);
      continue;
    }
    context.cause = 'tapeCross';
    const { filled, held } = takeUserOrder(state, market, user, size - traded);
    context.cause = 'tape';
    traded += filled;
    // A user order that may not trade now stays; the house volume is dropped rather than cross it.
    if (held) return size;
  }
  return traded;
}
