/**
 * Bars (docs/DATA.md "Bars", D-66). The price follows the bar's path tick by tick. It
 * stops at users' orders, triggers, and the first price that endangers a unit.
 */
import type { TapeBar } from '../engine/commands.ts';
import { restingOn } from './book.ts';
import { settleConsequences } from './consequences.ts';
import { addHouse, clearHouse, houseLots, housePrices, takeOf } from './house.ts';
import { clearBelowZero } from './clearing.ts';
import { dangerAt, isSafe, liquidateAll, unitsIn } from './liquidation.ts';
import { followBar, marksFollowBars, noteBarQuotes, emitBarMark } from './mark.ts';
import { max, min, sum } from './numbers.ts';
import { isPrice, emitApplied, stateMid, takeUsers } from './tape.ts';
import { firesAbove, firesAt, runTriggers } from './triggers.ts';
import { positionOf, type Answer, type Market, type World } from './world.ts';

const MOST_TICKS = 2n ** 31n - 1n;
const MOST_SPREAD = 1 << 24;

export function tapeBar(world: World, c: TapeBar): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  if (market.spec.impactModel === 'squareRoot') return 'impact_needs_levels';
  if (!isBar(c)) return 'tape_level_invalid';
  world.cause = 'tape';
  const before = { mark: market.mark, index: market.index };
  notePrices(world, market, c);
  market.stale = false;
  // Bars have no single orders.
  for (const segment of [...market.house]) {
    if (segment.ref !== null) takeOf(market, segment, segment.lots);
  }
  // Its whole book is placed again.
  market.levels.length = 0;
  walk(world, market, c);
  // At the bar's end its book is replaced (D-67).
  for (const segment of [...market.house]) takeOf(market, segment, segment.lots);
  quoteAround(world, market, c, BigInt(c.quoteTicks));
  noteBarQuotes(world, market);
  emitBarMark(world, market, before);
  emitApplied(world, market, 'bar', false);
  return 'ok';
}

/** A bar prints its open, its extremes with size 0, and its close with all volume. */
function notePrices(world: World, market: Market, c: TapeBar): void {
  market.barred = true;
  const parts: [number, number][] = [
    [c.openTicks, 0],
    [c.highTicks, 0],
    [c.lowTicks, 0],
    [c.closeTicks, c.volumeLots],
  ];
  for (const [price, size] of parts) {
    market.prints.push({ id: null, at: world.now, price: BigInt(price), lots: BigInt(size) });
  }
}

function isBar(c: TapeBar): boolean {
  const { openTicks, highTicks, lowTicks, closeTicks, quoteTicks, spreadTicks } = c;
  const prices = [openTicks, highTicks, lowTicks, closeTicks, quoteTicks];
  const sizes = [c.volumeLots, c.depthLots, spreadTicks];
  return (
    prices.every(isPrice) &&
    sizes.every((size) => Number.isSafeInteger(size) && size >= 0) &&
    spreadTicks <= MOST_SPREAD &&
    [openTicks, closeTicks].every((ticks) => lowTicks <= ticks && ticks <= highTicks)
  );
}

function walk(world: World, market: Market, c: TapeBar): void {
  const [open, high, low, close] = [c.openTicks, c.highTicks, c.lowTicks, c.closeTicks].map(BigInt);
  if (open === undefined || high === undefined || low === undefined || close === undefined) return;
  stop(world, market, c, open, BigInt(c.depthLots));
  const turns = highFirst(world, market, c) ? [high, low, close] : [low, high, close];
  let at = open;
  for (const turn of turns) {
    let capacity = BigInt(c.depthLots);
    while (at !== turn) {
      at = nextStop(world, market, c, { from: at, to: turn, capacity });
      capacity -= stop(world, market, c, at, capacity);
    }
  }
}

/** Whether the high comes first (docs/DATA.md "Bars"). */
function highFirst(world: World, market: Market, c: TapeBar): boolean {
  const [open, high, low] = [c.openTicks, c.highTicks, c.lowTicks];
  const nearer = high - open <= open - low;
  if (c.path === 'worstCase') {
    const users = world.subs.filter(({ house }) => !house);
    const held = sum(users.map((sub) => positionOf(sub, market.id).lots));
    return held === 0n ? nearer : held < 0n;
  }
  if (c.path === 'stopFirst') {
    const above = stopsBetween(world, market, 1n, BigInt(open), BigInt(high));
    const below = stopsBetween(world, market, -1n, BigInt(low), BigInt(open));
    return above === below ? nearer : above;
  }
  return nearer;
}

/** Whether a stop or active trailing stop fires on the way up (1n) or down (−1n). */
const stopsBetween = (
  world: World,
  market: Market,
  up: bigint,
  low: bigint,
  high: bigint,
): boolean =>
  world.live.some((order) => {
    if (order.market !== market.id || order.status !== 'pending' || !order.armed) return false;
    const isStop = order.type === 'stopLoss' || order.best !== null;
    const price = firesAt(order);
    return (
      isStop && price !== null && firesAbove(order) === up > 0n && price >= low && price <= high
    );
  });

/** Stops at a price: orders fill, the book moves, all consequences run. Returns the lots filled. */
function stop(world: World, market: Market, c: TapeBar, price: bigint, capacity: bigint): bigint {
  const margin = c.fill === 'through' ? 1n : 0n;
  const bids = takeUsers(world, market, 1n, price + margin, capacity);
  const asks = takeUsers(world, market, -1n, price - margin, capacity - bids);
  quoteAround(world, market, c, price);
  followBar(world, market, price);
  settleConsequences(world);
  clearBelowZero(world);
  runTriggers(world);
  liquidateAll(world);
  return bids + asks;
}

/** The first price after `from` on which an order or position depends, or `to`. */
function nextStop(
  world: World,
  market: Market,
  c: TapeBar,
  { from, to, capacity }: { readonly from: bigint; readonly to: bigint; readonly capacity: bigint },
): bigint {
  const up = to > from ? 1n : -1n;
  const margin = c.fill === 'through' ? up : 0n;
  const waiting = triggersOnTheWay(world, market, up);
  if (capacity > 0n) {
    for (const { order, price } of restingOn(world, market, -up)) {
      if (order !== null) waiting.push(price + margin);
    }
  }
  const follows = marksFollowBars(market) && !market.frozen;
  const safe = follows ? unitsIn(world, market).filter(isSafe(world)) : [];
  for (let price = from + up; price !== to; price += up) {
    if (waiting.includes(price) || dangerAt(world, market, price, safe)) return price;
  }
  return to;
}

/** Prices at which triggers fire or trailing stops activate, if they watch the bar's price. */
function triggersOnTheWay(world: World, market: Market, up: bigint): bigint[] {
  const follows = marksFollowBars(market);
  const { triggerSource } = world.config;
  const watched =
    triggerSource === 'last' ||
    (triggerSource === 'index' ? market.spec.indexSource === 'mid' : follows);
  const prices: bigint[] = [];
  for (const order of world.live) {
    if (order.market !== market.id || order.status !== 'pending' || !order.armed) continue;
    const price = firesAt(order);
    const looks = order.trailing === null ? watched : follows;
    if (looks && price !== null && firesAbove(order) === up > 0n) prices.push(price);
  }
  return prices;
}

/** The synthetic book: one level per side, kept apart from users' orders that it would meet. */
function quoteAround(world: World, market: Market, c: TapeBar, price: bigint): void {
  const bid = price - BigInt(c.spreadTicks >> 1);
  const users = (side: bigint): bigint[] =>
    restingOn(world, market, side)
      .filter(({ order }) => order !== null)
      .map((user) => user.price);
  quote(
    world,
    market,
    1n,
    users(-1n)
      .map((ask) => ask - 1n)
      .reduce(min, bid),
    c.depthLots,
  );
  const ask = bid + BigInt(c.spreadTicks);
  quote(
    world,
    market,
    -1n,
    users(1n)
      .map((best) => best + 1n)
      .reduce(max, ask),
    c.depthLots,
  );
  const isMoved = users(-1n).some((user) => user <= bid) || users(1n).some((user) => user >= ask);
  stateMid(market, isMoved ? bid + ask : null);
}

function quote(world: World, market: Market, side: bigint, price: bigint, depthLots: number): void {
  const size = BigInt(depthLots);
  for (const other of housePrices(market, side)) {
    if (other !== price) clearHouse(market, side, other);
  }
  if (price < 1n || price > MOST_TICKS) return;
  const standing = houseLots(market, side, price);
  if (standing > size) {
    clearHouse(market, side, price);
    addHouse(world, market, { side, price, lots: size });
  } else addHouse(world, market, { side, price, lots: size - standing });
}
