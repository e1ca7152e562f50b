/**
 * The venue's whole book, normally applied as a diff: levels that are not listed are
 * removed, and equal levels keep their queue positions. After a gap, queue positions are unknown,
 * so house volume goes to the front and a user order behind the whole level.
 */
import { priceTicks, lots } from '../../num/units.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { Side, TapeLevel, TapeSnapshot } from '../commands.ts';
import type { Market } from '../market/market.ts';
import type { Outcome } from '../refusals.ts';
import type { State } from '../state.ts';
import { applyLevel, isLevel, settleReach } from './apply-depth.ts';
import { addHouseInFront, houseLots, removeSegment } from './house.ts';
import { stateMid } from './stated-mid.ts';
import { emitTape } from './tape-event.ts';

export function applySnapshot(state: State, command: TapeSnapshot): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  if (market.status === 'delisted') return { code: 'market_delisted' };
  if (!command.levels.every(isLevel)) return { code: 'tape_level_invalid' };
  state.context.cause = 'tape';
  const afterGap = market.tape.stale;
  market.tape.stale = false;
  endOthers(state, market, command.levels);
  for (const level of command.levels) {
    const side = level.side === 'bid' ? 1 : -1;
    const behind = houseLots(market, side, level.priceTicks);
    applyLevel(state, market, level);
    if (!afterGap || behind > 0) continue;
    // Volume added at the back: after a gap it was there before the user's orders.
    moveToFront(state, market, side, level.priceTicks);
  }
  settleReach(state, market);
  stateMid(state, market, null);
  emitTape(state, market, 'snapshot', false);
  return 'ok';
}

/** Ends the recorded levels that are not among these. */
export function endOthers(state: State, market: Market, levels: readonly TapeLevel[]): void {
  const named = { bid: new Set<number>(), ask: new Set<number>() };
  for (const level of levels) if (level.lots > 0) named[level.side].add(level.priceTicks);
  for (const side of ['bid', 'ask'] as const) {
    const sign = side === 'bid' ? 1 : -1;
    const withheld = market.impact === null ? [] : market.impact.pricesWithheld(sign);
    const taken = market.tape.takenPrices(sign);
    for (const price of [...housePrices(market, side), ...taken, ...withheld]) {
      if (named[side].has(price)) continue;
      applyLevel(state, market, { side, priceTicks: priceTicks(price), lots: lots(0) });
    }
  }
}

/** Prices of a side with house volume. */
export function housePrices(market: Market, side: Side): number[] {
  const ladder = market.book.ladder(side === 'bid' ? 1 : -1);
  const prices: number[] = [];
  for (let level = ladder.bestLevel(); level !== NO_LEVEL; level = ladder.nextLevel(level)) {
    if (ladder.houseTotal(level) > 0) prices.push(ladder.price(level));
  }
  return prices;
}

function moveToFront(state: State, market: Market, side: 1 | -1, price: number): void {
  const ladder = market.book.ladder(side);
  const level = ladder.find(priceTicks(price));
  if (level === NO_LEVEL) return;
  const head = ladder.head(level);
  const tail = ladder.tail(level);
  if (head === tail || !state.orders.isHouse(tail) || market.tape.refs.has(tail)) return;
  const size = state.orders.left(tail);
  removeSegment(state.orders, market, tail);
  addHouseInFront(state, market, side, price, size);
}
