/** Recorded history in the same book (D-14, D-15): depth, trades, snapshots, gaps. */
import type {
  TapeDepth,
  TapeGap,
  TapeLevel,
  TapeQuotes,
  TapeSnapshot,
  TapeTrade,
} from '../engine/commands.ts';
import type { TapeApplied } from '../engine/events.ts';
import { priceTicks } from '../num/units.ts';
import { bestOf, queueAt, restingOn, sizeOf, type Resting } from './book.ts';
import { feesOf, NO_FEES, type Fees } from './fees.ts';
import { fill, printTrade } from './fills.ts';
import {
  addHouse,
  clearHouse,
  decreaseHouse,
  displacedLots,
  houseLots,
  housePrices,
  hideLevel,
  hideWithin,
  levelOf,
  keepTaken,
  noteRestated,
  noteTakenAt,
  returnCredit,
  showLevel,
  takeFromBack,
} from './house.ts';
import { isFrozen } from './mark.ts';
import { makerAffords, makersSize } from './matching.ts';
import { max, min, sum, sign } from './numbers.ts';
import {
  cutMinutes,
  endCrossed,
  hiddenAt,
  isSquareRoot,
  isWithin,
  noteRecorded,
  setWithheld,
} from './square-root.ts';
import {
  because,
  HOUSE_MAKERS,
  HOUSE_TAKERS,
  must,
  emit,
  subOf,
  type Answer,
  type Market,
  type World,
} from './world.ts';

const MOST_TICKS = 2 ** 31 - 1;
export const isPrice = (ticks: number): boolean =>
  Number.isSafeInteger(ticks) && ticks > 0 && ticks <= MOST_TICKS;
const isLevel = ({ priceTicks, lots }: TapeLevel): boolean =>
  isPrice(priceTicks) && Number.isSafeInteger(lots) && lots >= 0;
const sideOf = ({ side }: TapeLevel): bigint => (side === 'bid' ? 1n : -1n);

export function tapeDepth(world: World, c: TapeDepth): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  if (!c.levels.every(isLevel)) return 'tape_level_invalid';
  world.cause = 'tape';
  if (!market.stale) {
    for (const level of c.levels) {
      restate(world, market, sideOf(level), BigInt(level.priceTicks), BigInt(level.lots));
    }
    settleReach(world, market);
    stateMid(market, null);
  }
  emitApplied(world, market, 'depth', market.stale);
  return 'ok';
}

export function tapeTrade(world: World, c: TapeTrade): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  if (!isPrice(c.priceTicks) || !Number.isSafeInteger(c.lots) || c.lots === 0) {
    return 'tape_level_invalid';
  }
  world.cause = 'tape';
  if (!market.stale) {
    const side = c.lots > 0 ? 1n : -1n;
    const size = side * BigInt(c.lots);
    trade(world, market, side, BigInt(c.priceTicks), size);
    if (isSquareRoot(market)) noteRecorded(world, market, BigInt(c.priceTicks), size);
    settleReach(world, market);
  }
  emitApplied(world, market, 'trade', market.stale);
  return 'ok';
}

/** The venue's whole book replaces the house's. After a gap users' orders queue behind it. */
export function tapeSnapshot(world: World, c: TapeSnapshot): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  if (!c.levels.every(isLevel)) return 'tape_level_invalid';
  world.cause = 'tape';
  const afterGap = market.stale;
  market.stale = false;
  endOthers(world, market, c.levels);
  for (const level of c.levels) {
    const [side, price] = [sideOf(level), BigInt(level.priceTicks)];
    const before = houseLots(market, side, price);
    restate(world, market, side, price, BigInt(level.lots));
    if (!afterGap || before > 0n) continue;
    const joined = houseLots(market, side, price);
    clearHouse(market, side, price);
    addHouse(world, market, { side, price, lots: joined, where: 'front' });
  }
  settleReach(world, market);
  stateMid(market, null);
  emitApplied(world, market, 'snapshot', false);
  return 'ok';
}

/** Levels that are not stated end. */
function endOthers(world: World, market: Market, levels: readonly TapeLevel[]): void {
  for (const side of [1n, -1n]) {
    const named = levels.filter((level) => sideOf(level) === side && level.lots > 0);
    const taken = market.levels.filter((level) => level.side === side && level.taken > 0n);
    const withheld = market.withheld.filter((level) => level.side === side);
    const others = [...taken, ...withheld].map(({ price }) => price);
    for (const price of [...housePrices(market, side), ...others]) {
      if (named.some(({ priceTicks }) => BigInt(priceTicks) === price)) continue;
      restate(world, market, side, price, 0n);
    }
  }
}

/** The book of recorded trades, which fills no user's order: its levels keep a tick away (D-67). */
export function tapeQuotes(world: World, c: TapeQuotes): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  if (isSquareRoot(market)) return 'impact_needs_levels';
  if (!c.levels.every(isLevel)) return 'tape_level_invalid';
  world.cause = 'tape';
  market.stale = false;
  const usersOf = (side: bigint): number[] =>
    restingOn(world, market, side)
      .filter(({ order }) => order !== null)
      .map(({ price }) => Number(price));
  const [userBids, userAsks] = [usersOf(1n), usersOf(-1n)];
  const levels = c.levels
    .map((level): TapeLevel => {
      const { side, priceTicks: price } = level;
      const free =
        side === 'bid'
          ? Math.min(price, ...userAsks.map((ask) => ask - 1))
          : Math.max(price, ...userBids.map((bid) => bid + 1));
      return { ...level, priceTicks: priceTicks(free) };
    })
    .filter(({ priceTicks: price }) => isPrice(price));
  endOthers(world, market, levels);
  for (const level of levels) {
    restate(world, market, sideOf(level), BigInt(level.priceTicks), BigInt(level.lots));
  }
  const isMoved = c.levels.some((level, i) => level.priceTicks !== levels[i]?.priceTicks);
  const stated = c.levels.filter((level) => level.lots > 0);
  const pricesOf = (side: bigint): bigint[] =>
    stated.filter((level) => sideOf(level) === side).map((level) => BigInt(level.priceTicks));
  const [[bid, ...bids], [ask, ...asks]] = [pricesOf(1n), pricesOf(-1n)];
  const hasBoth = bid !== undefined && ask !== undefined;
  stateMid(market, isMoved && hasBoth ? bids.reduce(max, bid) + asks.reduce(min, ask) : null);
  emitApplied(world, market, 'depth', false);
  return 'ok';
}

/** The mid that index and mark have while users' orders hold levels of a synthetic book away. */
export function stateMid(market: Market, halfTicks: bigint | null): void {
  if (market.statedMid === halfTicks) return;
  market.statedMid = halfTicks;
  market.bookChanged = true;
}

/** House volume is unknown, so it leaves the book until the next snapshot. */
export function tapeGap(world: World, c: TapeGap): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  world.cause = 'tape';
  market.stale = true;
  if (market.house.length > 0) market.bookChanged = true;
  market.house.length = 0;
  market.levels.length = 0;
  market.carried.length = 0;
  market.withheld.length = 0;
  cutMinutes(market);
  stateMid(market, null);
  emitApplied(world, market, 'gap', true);
  return 'ok';
}

/** Sets a level to its venue's size: crosses users' orders, then moves the house volume. */
function restate(world: World, market: Market, side: bigint, price: bigint, lots: bigint): void {
  keepTaken(world, market, side, price, lots);
  noteRestated(market, side, price, lots);
  place(world, market, side, price, lots);
}

/** Places a level as history states it, or hides it. */
function place(world: World, market: Market, side: bigint, price: bigint, lots: bigint): void {
  const hides = lots > 0n && isWithin(world, market, side, price);
  if (lots > 0n) endCrossed(market, side, price);
  const fresh = hides ? 0n : lots - levelOf(market, side, price).taken;
  const { traded, open } =
    lots === 0n ? { traded: 0n, open: true } : cross(world, market, side, price, fresh);
  if (traded > 0n) noteTakenAt(world, market, side, price, traded);
  const gone = displacedLots(world, market, side, price);
  const target = open || hides ? max(0n, lots - max(traded, gone)) : 0n;
  if (isSquareRoot(market)) showLevel(world, market, side, price, traded);
  const standing = houseLots(market, side, price);
  if (target > standing) addHouse(world, market, { side, price, lots: target - standing });
  else if (target < standing) decreaseHouse(world, market, side, price, standing - target);
  if (isSquareRoot(market) && lots > 0n && (hides || target === 0n)) {
    hideLevel(market, side, price);
  }
}

/** after an update of history. */
function settleReach(world: World, market: Market): void {
  if (!isSquareRoot(market)) return;
  for (const side of [1n, -1n]) {
    hideWithin(world, market, side);
    const beyond = market.withheld
      .filter((level) => level.side === side && level.lots > 0n)
      .filter((level) => !isWithin(world, market, side, level.price))
      .sort((a, b) => Number((b.price - a.price) * side));
    for (const { price, lots } of beyond) {
      place(world, market, side, price, lots + levelOf(market, side, price).taken);
    }
  }
  for (const side of [1n, -1n]) hideWithin(world, market, side);
}

/**
 * Lots traded with crossed users' orders, and whether none of them is left; crossed house volume is
 * removed.
 */
export function cross(
  world: World,
  market: Market,
  side: bigint,
  price: bigint,
  lots: bigint,
): { traded: bigint; open: boolean } {
  let traded = 0n;
  for (;;) {
    const best = bestOf(world, market, -side);
    if (best === undefined || (best.price - price) * side > 0n) return { traded, open: true };
    const user = firstUser(world, market, -side, best.price);
    if (user === undefined) {
      clearHouse(market, -side, best.price);
      continue;
    }
    if (traded === lots) return { traded, open: false };
    const filled = because(world, 'tapeCross', () => takeUser(world, market, user, lots - traded));
    // An order that may not trade now stays, and the rest of the level is not placed.
    if (filled === 'held') return { traded, open: false };
    traded += filled;
  }
}

const firstUser = (
  world: World,
  market: Market,
  side: bigint,
  price: bigint,
): Resting | undefined => queueAt(world, market, side, price).find(({ order }) => order !== null);

/** The house fills up to `maxLots` of a user's order; `held` while the market is frozen. */
export function takeUser(
  world: World,
  market: Market,
  user: Resting,
  maxLots: bigint,
): bigint | 'held' {
  const order = must(user.order);
  const size = makersSize(world, user, maxLots);
  if (size === 0n) return 0n;
  // The house counts as opening (R-5.3b).
  if (isFrozen(world, market)) return 'held';
  const side = order.lots > 0n ? 1n : -1n;
  const fees = feesOf(market, order, 'maker', size, user.price);
  if (!makerAffords(world, market, user, side * size, fees)) return 0n;
  takeAs(world, market, user, { fees, size });
  return size;
}

/** The house as a taker, which pays no fees. */
export function takeAs(
  world: World,
  market: Market,
  resting: Resting,
  { fees, size }: { readonly fees: Fees; readonly size: bigint },
): void {
  const { order, segment } = resting;
  const side = order === null ? -must(segment).side : -sign(order.lots);
  const maker = subOf(world, order === null ? HOUSE_MAKERS : order.sub);
  const taker = { sub: subOf(world, HOUSE_TAKERS), order: null, fees: NO_FEES };
  fill(world, market, resting, { maker: { sub: maker, order, fees }, taker, side, size });
}

/**
 * A historical trade: users at better prices, then the queue of its level. The users' size leaves
 * the house volume. An earlier decrease is reversed first. Size without volume still prints.
 */
function trade(world: World, market: Market, side: bigint, price: bigint, size: bigint): void {
  if (market.house.some(({ ref }) => ref !== null)) {
    tradeWithHidden(world, market, side, price, size);
    return;
  }
  returnCredit(world, market, -side, price, size);
  let users = takeUsers(world, market, -side, price - side, size);
  let house = takeHidden(market, -side, price, size - users);
  const hidden = house;
  let frozen = false;
  while (users + house < size) {
    const left = size - users - house;
    const queue = queueAt(world, market, -side, price);
    const head = frozen ? queue.find(({ segment }) => segment !== null) : queue[0];
    if (head === undefined) break;
    if (head.segment !== null) {
      const taken = min(left, head.segment.lots);
      takeAs(world, market, head, { fees: NO_FEES, size: taken });
      house += taken;
      continue;
    }
    const filled = takeUser(world, market, head, left);
    if (filled === 'held') frozen = true;
    else users += filled;
  }
  const behind = min(users, houseLots(market, -side, price));
  takeFromBack(market, -side, price, behind);
  takeHidden(market, -side, price, users - behind);
  const unmatched = size - users - house + hidden;
  noteRestated(market, -side, price, unmatched - hidden);
  if (unmatched > 0n) printTrade(world, market, price, side * unmatched);
}

/**
 * A trade beside single orders, whose executions are records of their own. Users at better prices
 * and those at the front of its price meet it; history keeps its orders.
 */
function tradeWithHidden(
  world: World,
  market: Market,
  side: bigint,
  price: bigint,
  size: bigint,
): void {
  let left = size - takeUsers(world, market, -side, price - side, size);
  while (left > 0n) {
    const [head] = queueAt(world, market, -side, price);
    if (head === undefined || head.segment !== null) break;
    const filled = takeUser(world, market, head, left);
    if (filled === 'held') break;
    left -= filled;
  }
  if (left > 0n) printTrade(world, market, price, side * left);
}

/** takes up to `lots` hidden lots; returns their number. */
function takeHidden(market: Market, side: bigint, price: bigint, lots: bigint): bigint {
  const hidden = hiddenAt(market, side, price);
  const taken = min(hidden, lots);
  if (taken > 0n) setWithheld(market, side, price, hidden - taken);
  return taken;
}

/** The house fills a side's user orders, best first, to the price `reach`, inclusive. */
export function takeUsers(
  world: World,
  market: Market,
  side: bigint,
  reach: bigint,
  maxLots: bigint,
): bigint {
  let taken = 0n;
  const held: bigint[] = [];
  while (taken < maxLots) {
    const [first] = restingOn(world, market, side)
      .filter(({ order }) => order !== null)
      .filter((user) => (user.price - reach) * side >= 0n && !held.includes(user.price))
      .sort((a, b) => Number((b.price - a.price) * side) || a.arrival - b.arrival);
    if (first === undefined) break;
    const filled = takeUser(world, market, first, maxLots - taken);
    if (filled === 'held') held.push(first.price);
    else taken += filled;
  }
  return taken;
}

export function emitApplied(
  world: World,
  market: Market,
  what: TapeApplied['what'],
  stale: boolean,
): void {
  const touch = (side: bigint): { price: bigint | null; lots: bigint } => {
    const price = bestOf(world, market, side)?.price ?? null;
    if (price === null) return { price, lots: 0n };
    return { price, lots: sum(queueAt(world, market, side, price).map(sizeOf)) };
  };
  const [bid, ask] = [touch(1n), touch(-1n)];
  emit(world, {
    kind: 'tapeApplied',
    market: market.id,
    what,
    bestBidTicks: bid.price,
    bestBidLots: bid.lots,
    bestAskTicks: ask.price,
    bestAskLots: ask.lots,
    stale,
  });
}
