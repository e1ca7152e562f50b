/** Recorded liquidity in the book, its displacement by users, and its return. */
import { queueAt } from './book.ts';
import { max, min, shareUp, sum } from './numbers.ts';
import { aheadOf } from './queue-models.ts';
import { hiddenAt, isSquareRoot, isWithin, noteOwn, setWithheld } from './square-root.ts';
import type { HouseLevel, Market, Segment, World } from './world.ts';

/** Max wait of a decrease for its trade. */
const CREDIT_US = 1_000_000n;

/** The tape state of a level. */
export function levelOf(market: Market, side: bigint, price: bigint): HouseLevel {
  const found = market.levels.find((level) => level.side === side && level.price === price);
  if (found !== undefined) return found;
  const made: HouseLevel = {
    side,
    price,
    taken: 0n,
    restated: 0n,
    displaced: 0n,
    displacedAt: 0n,
    creditFront: 0n,
    creditBack: 0n,
    creditUntil: 0n,
  };
  market.levels.push(made);
  return made;
}

const segmentsAt = (market: Market, side: bigint, price: bigint): Segment[] =>
  market.house
    .filter((segment) => segment.side === side && segment.price === price)
    .sort((a, b) => a.arrival - b.arrival);

export const houseLots = (market: Market, side: bigint, price: bigint): bigint =>
  sum(segmentsAt(market, side, price).map(({ lots }) => lots));

interface Added {
  readonly side: bigint;
  readonly price: bigint;
  readonly lots: bigint;
}

/** Adds volume behind or ahead of a price's queue, merged with adjacent house volume. */
export function addHouse(
  world: World,
  market: Market,
  { side, price, lots, where = 'back' }: Added & { readonly where?: 'back' | 'front' },
): void {
  if (lots === 0n) return;
  market.bookChanged = true;
  const queue = queueAt(world, market, side, price);
  const neighbour = (where === 'back' ? queue.at(-1) : queue[0])?.segment ?? null;
  if (neighbour?.ref === null) {
    neighbour.lots += lots;
    return;
  }
  world.arrivals += 1;
  const arrival = where === 'back' ? world.arrivals : -world.arrivals;
  market.house.push({ side, price, lots, arrival, ref: null });
}

/** Appends one historical order to its price. */
export function addHistoricalOrder(
  world: World,
  market: Market,
  { side, price, lots, ref }: Added & { readonly ref: number },
): void {
  world.arrivals += 1;
  market.bookChanged = true;
  market.house.push({ side, price, lots, arrival: world.arrivals, ref });
}

/** The segment of this historical order, otherwise the oldest unnamed volume of its level. */
export function findSegment(
  market: Market,
  ref: number,
  side: bigint,
  price: bigint,
): Segment | null {
  const named = market.house.find((segment) => segment.ref === ref);
  if (named !== undefined) return named;
  return segmentsAt(market, side, price).find((segment) => segment.ref === null) ?? null;
}

/** Takes up to `maxLots` of a segment; returns the lots taken. */
export function takeOf(market: Market, segment: Segment, maxLots: bigint): bigint {
  const taken = min(maxLots, segment.lots);
  segment.lots -= taken;
  if (taken > 0n) market.bookChanged = true;
  if (segment.lots === 0n) market.house.splice(market.house.indexOf(segment), 1);
  return taken;
}

export function takeFromBack(market: Market, side: bigint, price: bigint, lots: bigint): void {
  let left = lots;
  for (const segment of segmentsAt(market, side, price).reverse()) {
    left -= takeOf(market, segment, left);
  }
}

export function clearHouse(market: Market, side: bigint, price: bigint): void {
  takeFromBack(market, side, price, houseLots(market, side, price));
}

/** Records consumed liquidity; under impact `none` the book shows it again at the next update. */
export function noteTakenAt(
  world: World,
  market: Market,
  side: bigint,
  price: bigint,
  lots: bigint,
): void {
  const level = levelOf(market, side, price);
  level.taken += lots;
  if (market.spec.impactModel === 'none') return;
  const displaced = displacedLots(world, market, side, price);
  level.displaced = displaced + lots;
  if (displaced === 0n) level.displacedAt = world.now;
  // Half-lives count from the mean time at which the lots were taken (decision 0149).
  else if (market.spec.impactModel === 'halving') {
    level.displacedAt += shareUp((world.now - level.displacedAt) * lots, level.displaced);
  }
}

/** A taker took lots of a segment. */
export function noteTaken(world: World, market: Market, segment: Segment, lots: bigint): void {
  const { side, price } = segment;
  noteTakenAt(world, market, side, price, lots);
  if (!isSquareRoot(market)) return;
  noteOwn(world, market, -side, lots);
  if (houseLots(market, side, price) === 0n) {
    setWithheld(market, side, price, hiddenAt(market, side, price));
  }
  hideWithin(world, market, side);
}

/** Hides the house levels of a side that are within reach. */
export function hideWithin(world: World, market: Market, side: bigint): void {
  for (const price of housePrices(market, side)) {
    if (isWithin(world, market, side, price)) hideLevel(market, side, price);
  }
}

export function hideLevel(market: Market, side: bigint, price: bigint): void {
  const hidden = hiddenAt(market, side, price) + houseLots(market, side, price);
  clearHouse(market, side, price);
  setWithheld(market, side, price, hidden);
}

/** Hidden lots return to the front of the queue, without those that traded just now. */
export function showLevel(
  world: World,
  market: Market,
  side: bigint,
  price: bigint,
  traded: bigint,
): void {
  const lots = max(0n, hiddenAt(market, side, price) - traded);
  setWithheld(market, side, price, null);
  addHouse(world, market, { side, price, lots, where: 'front' });
}

/** No more than `lots` of a level that users took are still in history. */
export function keepTaken(
  world: World,
  market: Market,
  side: bigint,
  price: bigint,
  lots: bigint,
): void {
  const displaced = displacedLots(world, market, side, price);
  const level = levelOf(market, side, price);
  level.displaced = min(displaced, lots);
  level.taken = min(level.taken, lots);
  level.restated = min(level.restated, level.taken);
}

/** History has so many lots of a level: those that users took diverge from it, each once. */
export function noteRestated(market: Market, side: bigint, price: bigint, lots: bigint): void {
  const level = levelOf(market, side, price);
  const again = min(lots, level.taken);
  if (again <= level.restated) return;
  if (level.restated === 0n) market.diverged.levels += 1;
  market.diverged.lots += again - level.restated;
  level.restated = again;
}

/** Halves return at whole half-lives, evaluated on access. */
export function displacedLots(world: World, market: Market, side: bigint, price: bigint): bigint {
  const level = levelOf(market, side, price);
  const halfLife = BigInt(market.spec.impactHalfLifeUs);
  while (
    market.spec.impactModel === 'halving' &&
    level.displaced > 0n &&
    world.now - level.displacedAt >= halfLife
  ) {
    level.displaced /= 2n;
    level.displacedAt += halfLife;
  }
  return level.displaced;
}

/**
 * A decrease without a trade. For each user order, front to back, the queue model gives the part
 * directly ahead; the rest comes from the back. All of it is credit for a late trade.
 */
export function decreaseHouse(
  world: World,
  market: Market,
  side: bigint,
  price: bigint,
  lots: bigint,
): void {
  const credit = openCredit(world, levelOf(market, side, price));
  credit.creditUntil = world.now + CREDIT_US;
  const users = world.live
    .filter((order) => order.resting && order.market === market.id)
    .filter((order) => order.price === price && order.lots > 0n === side > 0n)
    .sort((a, b) => a.arrival - b.arrival);
  let left = lots;
  let from = -Infinity;
  for (const [i, user] of users.entries()) {
    if (left === 0n) break;
    const after = segmentsAt(market, side, price).filter(({ arrival }) => arrival > from);
    const stretch = after.filter(({ arrival }) => arrival < user.arrival);
    const ahead = sum(stretch.map((segment) => segment.lots));
    const behind = sum(after.map((segment) => segment.lots)) - ahead;
    from = user.arrival;
    if (ahead + behind === 0n) continue;
    let taken = aheadOf(market, user.id, ahead, behind, left);
    left -= taken;
    if (i === 0) credit.creditFront += taken;
    else credit.creditBack += taken;
    for (const segment of stretch.reverse()) taken -= takeOf(market, segment, taken);
  }
  credit.creditBack += left;
  takeFromBack(market, side, price, left);
}

/** A trade explains earlier decreases: restores them to their positions. */
export function returnCredit(
  world: World,
  market: Market,
  side: bigint,
  price: bigint,
  lots: bigint,
): void {
  const credit = openCredit(world, levelOf(market, side, price));
  const front = min(lots, credit.creditFront);
  const back = min(lots - front, credit.creditBack);
  credit.creditFront -= front;
  credit.creditBack -= back;
  addHouse(world, market, { side, price, lots: front, where: 'front' });
  addHouse(world, market, { side, price, lots: back });
}

/** Drops credit that no trade claimed in time. */
function openCredit(world: World, level: HouseLevel): HouseLevel {
  if (world.now > level.creditUntil) {
    level.creditFront = 0n;
    level.creditBack = 0n;
  }
  return level;
}

/** Prices of a side with house volume. */
export const housePrices = (market: Market, side: bigint): bigint[] => [
  ...new Set(market.house.filter((segment) => segment.side === side).map(({ price }) => price)),
];
