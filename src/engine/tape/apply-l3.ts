/**
 * One historical order of a venue with full order flow: exact price-time priority. Each
 * order is a segment of its own, so queue positions are known and no queue model applies.
 *
 * - `add` trades with users' orders that it crosses, at their prices; the rest joins the back of
 *   its level.
 * - `reduce` and `remove` take the order's own lots, at any queue position.
 * - `execute` is a house taker that meets this order in history. Users at better prices and users
 *   ahead of it in the queue fill first; their size leaves the order too, since history reports
 *   that size as gone.
 *
 * An order without `add` was in the opening book: its lots come from the front of the unnamed
 * volume of its level, which is older than every named order. After a user consumed an order, later
 * history of it only affects the trade tape.
 */
import { lots, MAX_PRICE_TICKS, priceTicks } from '../../num/units.ts';
import { NONE } from '../book/order-table.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { TapeL3 } from '../commands.ts';
import type { Market } from '../market/market.ts';
import { executeFill, printTrade } from '../orders/fill.ts';
import type { Outcome } from '../refusals.ts';
import { NO_FEES } from '../accounts/order-fees.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { crossOpposite } from './apply-depth.ts';
import { capTaken, noteDivergence, noteTaken } from './displacement.ts';
import { appendOrder, takeFromSegment } from './house.ts';
import { houseTaker, takeUserOrder, takeUsers } from './house-take.ts';
import { stateMid } from './stated-mid.ts';
import { emitTape } from './tape-event.ts';

export function applyL3(state: State, command: TapeL3): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  if (market.status === 'delisted') return { code: 'market_delisted' };
  if (market.impact !== null) return { code: 'impact_needs_levels' };
  if (!isSound(command)) return { code: 'tape_level_invalid' };
  state.context.cause = 'tape';
  if (!market.tape.stale) {
    dispatch(state, market, command);
    stateMid(state, market, null);
  }
  emitTape(state, market, 'l3', market.tape.stale);
  return 'ok';
}

function isSound({ ref, priceTicks: price, lots: size }: TapeL3): boolean {
  return (
    Number.isSafeInteger(ref) &&
    ref > 0 &&
    Number.isSafeInteger(price) &&
    price > 0 &&
    price <= MAX_PRICE_TICKS &&
    Number.isSafeInteger(size) &&
    size > 0
  );
}

function dispatch(state: State, market: Market, command: TapeL3): void {
  const side = command.side === 'bid' ? 1 : -1;
  const { ref, priceTicks: price, lots: size } = command;
  const { context } = state;
  switch (command.action) {
    case 'add': {
      // A reused number refers to a new order from now on.
      const old = market.tape.orders.get(ref);
      if (old !== undefined) {
        context.markBookChanged(market);
        takeFromSegment(state, market, old, Infinity);
      }
      const { traded, blocked } = crossOpposite(state, market, side, price, size);
      if (traded > 0) noteTaken(state, market, side, price, traded);
      if (blocked || traded === size) return;
      market.tape.nameOrder(appendOrder(state, market, side, price, size - traded), ref);
      return;
    }
    case 'reduce':
    case 'remove': {
      context.markBookChanged(market);
      const isNamed = market.tape.orders.has(ref);
      const removes = isNamed && command.action === 'remove';
      let removed = 0;
      do {
        const slot = segmentOf(state, market, command);
        if (slot === NONE) break;
        removed += takeFromSegment(state, market, slot, removes ? Infinity : size - removed);
      } while (removed < size && !isNamed);
      endTaken(state, market, side, price, size - removed);
      return;
    }
    case 'execute':
      executeOrder(state, market, command, side);
  }
}

function executeOrder(state: State, market: Market, command: TapeL3, side: 1 | -1): void {
  const { ref, priceTicks: price, lots: size } = command;
  state.context.markBookChanged(market);
  const isNamed = market.tape.orders.has(ref);
  let users = takeUsers(state, market, side, price + side, size);
  let traded = 0;
  let gone = 0;
  do {
    const segment = segmentOf(state, market, command);
    if (segment === NONE) break;
    users += takeAhead(state, market, segment, size - users - traded);
    // Filling users' orders moves no segment.
    const standing = state.orders.left(segment);
    const fill = Math.min(size - users - traded, standing);
    const lost = Math.min(users - gone, standing - fill);
    if (lost > 0) takeFromSegment(state, market, segment, lost);
    if (fill > 0)
      executeFill(state, market, { slot: segment, fees: NO_FEES }, houseTaker(state), fill);
    traded += fill;
    gone += lost;
  } while (traded + gone < size && !isNamed);
  endTaken(state, market, side, price, size - traded - gone);
  const unmatched = size - users - traded;
  if (unmatched > 0) printTrade(state, market, price, lots(-side * unmatched));
}

/** History removed `size` lots of a level which users had taken before. */
function endTaken(state: State, market: Market, side: 1 | -1, price: number, size: number): void {
  const level = size > 0 ? market.tape.findTaken(side, price) : undefined;
  if (level === undefined) return;
  noteDivergence(market, level, size);
  capTaken(state, market, level, Math.max(0, level.taken - size));
  if (level.taken === 0) market.tape.endTaken(side, price);
}

/** Fills users' orders ahead of a segment in its queue; returns the lots filled, at most `size`. */
function takeAhead(state: State, market: Market, segment: number, size: number): number {
  const table = state.orders;
  const ladder = market.book.ladder(table.side(segment));
  const level = ladder.find(table.price(segment));
  let taken = 0;
  let slot = ladder.head(level);
  while (slot !== segment && taken < size) {
    if (table.isHouse(slot)) {
      slot = table.next(slot);
      continue;
    }
    const { filled, held } = takeUserOrder(state, market, slot, size - taken);
    taken += filled;
    if (held) break;
    // The slot and others may be gone: restart from the front.
    slot = ladder.head(level);
    while (slot !== segment && table.isHouse(slot)) slot = table.next(slot);
  }
  return taken;
}

/** The order's own segment, otherwise the oldest unnamed volume of its level, or NONE. */
function segmentOf(
  state: ExchangeState,
  market: Market,
  { ref, side, priceTicks: price }: TapeL3,
): number {
  const named = market.tape.orders.get(ref);
  if (named !== undefined) return named;
  const ladder = market.book.ladder(side === 'bid' ? 1 : -1);
  const level = ladder.find(priceTicks(price));
  if (level === NO_LEVEL) return NONE;
  let slot = ladder.head(level);
  while (slot !== NONE && (!state.orders.isHouse(slot) || market.tape.refs.has(slot))) {
    slot = state.orders.next(slot);
  }
  return slot;
}
