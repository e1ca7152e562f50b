/** House segments: historical volume in a level's queue, merged between user orders. */
import { assert } from '../../base/assert.ts';
import { lots, priceTicks, timeUs } from '../../num/units.ts';
import { NONE, type OrderTable } from '../book/order-table.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { splitDecrease } from './queue-models.ts';

/** Max wait of a decrease for its trade. */
const CREDIT_US = 1_000_000;

/** House lots at this price. */
export function houseLots(market: Market, side: 1 | -1, price: number): number {
  const ladder = market.book.ladder(side);
  const level = ladder.find(priceTicks(price));
  return level === NO_LEVEL ? 0 : ladder.houseTotal(level);
}

/** Adds house volume at the back of this price's queue. */
export function addHouse(
  state: State,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): void {
  if (size === 0) return;
  state.context.markBookChanged(market);
  const ladder = market.book.ladder(side);
  const level = ladder.find(priceTicks(price));
  const tail = level === NO_LEVEL ? NONE : ladder.tail(level);
  if (tail !== NONE && state.orders.isHouse(tail) && !market.tape.refs.has(tail)) {
    market.book.growSegment(tail, size);
    return;
  }
  market.book.append(newSegment(state, market, side, price, size));
}

/** Adds house volume at the front of this price's queue. */
export function addHouseInFront(
  state: State,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): void {
  if (size === 0) return;
  state.context.markBookChanged(market);
  const ladder = market.book.ladder(side);
  const level = ladder.find(priceTicks(price));
  const head = level === NO_LEVEL ? NONE : ladder.head(level);
  if (head !== NONE && state.orders.isHouse(head) && !market.tape.refs.has(head)) {
    market.book.growSegment(head, size);
    return;
  }
  market.book.prepend(newSegment(state, market, side, price, size));
}

function newSegment(
  state: ExchangeState,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): number {
  return state.orders.addSegment(
    state.houseMaker.id,
    market.id,
    lots(side * size),
    priceTicks(price),
  );
}

/** Takes house volume from the back of the level, at most the available lots. */
export function takeFromBack(
  state: State,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): void {
  const ladder = market.book.ladder(side);
  const level = ladder.find(priceTicks(price));
  if (level === NO_LEVEL || size === 0) return;
  state.context.markBookChanged(market);
  let left = Math.min(size, ladder.houseTotal(level));
  for (let slot = ladder.tail(level); left > 0;) {
    const before = state.orders.prev(slot);
    if (state.orders.isHouse(slot)) left -= takeFromSegment(state, market, slot, left);
    slot = before;
  }
}

/** Removes all house lots of the level. */
export function clearHouse(state: State, market: Market, side: 1 | -1, price: number): void {
  takeFromBack(state, market, side, price, Infinity);
}

/**
 * A decrease of `size` ≤ the level's house lots without a matching trade so far. The queue model
 * splits it ahead of and behind each user order. The lots are credit for a late trade.
 */
export function decreaseHouse(
  state: State,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): void {
  const ladder = market.book.ladder(side);
  const level = ladder.find(priceTicks(price));
  assert(
    level !== NO_LEVEL && size <= ladder.houseTotal(level),
    'a decrease is at most the house lots',
  );
  state.context.markBookChanged(market);
  const table = state.orders;
  let rest = size;
  let front = 0;
  let houseLeft = ladder.houseTotal(level);
  let slot = ladder.head(level);
  let first = true;
  while (houseLeft < ladder.total(level) && rest > 0) {
    // One contiguous house volume and the user order behind it.
    let ahead = 0;
    while (slot !== NONE && table.isHouse(slot)) {
      ahead += table.left(slot);
      slot = table.next(slot);
    }
    if (slot === NONE) break;
    const behind = houseLeft - ahead;
    const id = table.id(slot);
    if (ahead + behind > 0) {
      const carry = market.tape.carry.get(id) ?? 0;
      const split = splitDecrease(market.spec.queueModel, ahead, behind, rest, carry);
      if (split.carryPpb === 0) market.tape.carry.delete(id);
      else market.tape.carry.set(id, split.carryPpb);
      takeBefore(state, market, slot, split.ahead);
      rest -= split.ahead;
      if (first) front = split.ahead;
    }
    first = false;
    houseLeft = behind;
    slot = table.next(slot);
    if (slot === NONE) break;
  }
  const untilUs = timeUs(state.nowUs + CREDIT_US);
  market.tape.credits(side).add(price, front, size - front, state.nowUs, untilUs);
  takeFromBack(state, market, side, price, rest);
}

/** Restores the lots of earlier decreases that this trade explains; returns their number. */
export function returnCredit(
  state: State,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): void {
  const credits = market.tape.credits(side);
  const row = credits.find(price, state.nowUs);
  if (row < 0) return;
  const front = Math.min(size, credits.front(row));
  const back = Math.min(size - front, credits.back(row));
  credits.claim(row, front, back);
  addHouseInFront(state, market, side, price, front);
  addHouse(state, market, side, price, back);
}

/** Takes `size` lots from the house segments directly ahead of this slot. */
function takeBefore(state: ExchangeState, market: Market, slot: number, size: number): void {
  let left = size;
  for (let segment = state.orders.prev(slot); left > 0;) {
    assert(segment !== NONE && state.orders.isHouse(segment), 'the segments have the taken lots');
    const before = state.orders.prev(segment);
    left -= takeFromSegment(state, market, segment, left);
    segment = before;
  }
}

/** Takes up to `maxLots` of one segment; returns the lots taken. */
export function takeFromSegment(
  state: ExchangeState,
  market: Market,
  slot: number,
  maxLots: number,
): number {
  const taken = Math.min(maxLots, state.orders.left(slot));
  market.book.reduce(slot, taken);
  if (state.orders.left(slot) === 0) removeSegment(state.orders, market, slot);
  return taken;
}

/** Removes the segment from the book, with any unfilled size. */
export function removeSegment(table: OrderTable, market: Market, slot: number): void {
  market.book.unlink(slot);
  table.remove(slot);
  market.tape.forgetOrder(slot);
}

/** Appends a separate segment at this price for one historical order. Returns its slot. */
export function appendOrder(
  state: State,
  market: Market,
  side: 1 | -1,
  price: number,
  size: number,
): number {
  state.context.markBookChanged(market);
  const slot = newSegment(state, market, side, price, size);
  market.book.append(slot);
  return slot;
}
