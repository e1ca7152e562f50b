/**
 * A historical trade: a house taker at the tape's price. Users' orders with price-time
 * priority over the historical counterparty are filled. The same size leaves the house volume
 * behind them, since history reports it as gone.
 *
 * Order: users at better prices, then the queue of the trade's level, front to back; hidden lots
 * (R-14.5) are its front. A decrease of that level that arrived before its trade is reversed first,
 * so that no volume is used twice. Size without volume still prints.
 *
 * In a book of single orders, executions of these are records of their own. A trade there had a
 * hidden counterparty, so it takes nothing from the recorded orders (decision record 0152).
 */
import { lots, MAX_PRICE_TICKS, type PriceTicks } from '../../num/units.ts';
import { NONE } from '../book/order-table.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { TapeTrade } from '../commands.ts';
import type { Market } from '../market/market.ts';
import { executeFill, printTrade } from '../orders/fill.ts';
import { NO_FEES } from '../accounts/order-fees.ts';
import type { Outcome } from '../refusals.ts';
import type { State } from '../state.ts';
import { noteDivergence } from './displacement.ts';
import { settleReach } from './apply-depth.ts';
import { houseLots, returnCredit, takeFromBack } from './house.ts';
import { firstHouse, houseTaker, takeUserOrder, takeUsers } from './house-take.ts';
import { emitTape } from './tape-event.ts';

export function applyTrade(state: State, command: TapeTrade): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  if (market.status === 'delisted') return { code: 'market_delisted' };
  const { priceTicks: price, lots: signedLots } = command;
  if (
    !Number.isSafeInteger(price) ||
    price <= 0 ||
    price > MAX_PRICE_TICKS ||
    !Number.isSafeInteger(signedLots) ||
    signedLots === 0
  ) {
    return { code: 'tape_level_invalid' };
  }
  state.context.cause = 'tape';
  if (!market.tape.stale) {
    takeTrade(state, market, price, signedLots);
    market.impact?.noteTrade(state.nowUs, price, Math.abs(signedLots));
    settleReach(state, market);
  }
  emitTape(state, market, 'trade', market.tape.stale);
  return 'ok';
}

function takeTrade(state: State, market: Market, price: PriceTicks, signedLots: number): void {
  const side = signedLots > 0 ? 1 : -1;
  const houseSide = side > 0 ? -1 : 1;
  const size = Math.abs(signedLots);
  if (market.tape.orders.size > 0) {
    const users = takeUsersAhead(state, market, houseSide, price, size);
    if (users < size) printTrade(state, market, price, lots(side * (size - users)));
    return;
  }
  returnCredit(state, market, houseSide, price, size);
  // The historical taker meets better prices first.
  const byUsers = takeUsers(state, market, houseSide, price + houseSide, size);
  const hidden = takeHidden(market, houseSide, price, size - byUsers);
  const atLevel = takeLevel(state, market, houseSide, price, size - byUsers - hidden);
  const users = byUsers + atLevel.users;
  const behind = Math.min(users, houseLots(market, houseSide, price));
  takeFromBack(state, market, houseSide, price, behind);
  takeHidden(market, houseSide, price, users - behind);
  const unmatched = size - users - atLevel.house;
  if (unmatched === 0) return;
  const level = market.tape.findTaken(houseSide, price);
  if (level !== undefined) noteDivergence(market, level, unmatched - hidden);
  printTrade(state, market, price, lots(side * unmatched));
}

/** Fills users' orders ahead of all recorded ones of a price; returns the lots filled. */
function takeUsersAhead(
  state: State,
  market: Market,
  houseSide: 1 | -1,
  price: PriceTicks,
  size: number,
): number {
  const ladder = market.book.ladder(houseSide);
  let taken = takeUsers(state, market, houseSide, price + houseSide, size);
  while (taken < size) {
    const level = ladder.find(price);
    const head = level === NO_LEVEL ? NONE : ladder.head(level);
    if (head === NONE || state.orders.isHouse(head)) break;
    const { filled, held } = takeUserOrder(state, market, head, size - taken);
    if (held) break;
    taken += filled;
  }
  return taken;
}

/** Takes up to `size` hidden lots of the level; returns their number. */
function takeHidden(market: Market, houseSide: 1 | -1, price: number, size: number): number {
  if (market.impact === null) return 0;
  const hidden = market.impact.hiddenAt(houseSide, price);
  const taken = Math.min(hidden, size);
  if (taken > 0) market.impact.withheld(houseSide).set(price, hidden - taken);
  return taken;
}

/**
 * Consumes the queue of one level, front to back. Users' orders of a frozen market are passed over
 * (D-71).
 */
function takeLevel(
  state: State,
  market: Market,
  houseSide: 1 | -1,
  price: PriceTicks,
  size: number,
): { users: number; house: number } {
  const ladder = market.book.ladder(houseSide);
  let users = 0;
  let house = 0;
  let passesUsers = false;
  while (users + house < size) {
    const level = ladder.find(price);
    if (level === NO_LEVEL) break;
    const head = passesUsers ? firstHouse(state, ladder, level) : ladder.head(level);
    if (head === NONE) break;
    const left = size - users - house;
    if (state.orders.isHouse(head)) {
      const fill = Math.min(left, state.orders.left(head));
      executeFill(state, market, { slot: head, fees: NO_FEES }, houseTaker(state), fill);
      house += fill;
      continue;
    }
    const { filled, held } = takeUserOrder(state, market, head, left);
    users += filled;
    passesUsers ||= held;
  }
  return { users, house };
}
