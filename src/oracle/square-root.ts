/** Square-root impact: own volume, recorded minutes, reach, and what a taker may take. */
import { max, min } from './numbers.ts';
import type { Market, World } from './world.ts';

const MOST_OWN = 9_000_000_000_000_000n;
const MINUTE_US = 60_000_000n;
/** Beyond every distance between two prices. */
const FAR = 1n << 33n;

export const isSquareRoot = (market: Market): boolean => market.spec.impactModel === 'squareRoot';

/** own volume now, in thousandths of a lot. */
function ownOf(world: World, market: Market): bigint {
  const period = (BigInt(market.spec.impactHalfLifeUs) + 15n) / 16n;
  const step = world.now / period;
  while (market.ownStep < step && market.own !== 0n) {
    market.own = (market.own * 957_603n) / 1_000_000n;
    market.ownStep += 1n;
  }
  market.ownStep = step;
  return market.own;
}

/** A taker took lots of house volume; `side` is the taker's. */
export function noteOwn(world: World, market: Market, side: bigint, lots: bigint): void {
  const own = ownOf(world, market) + side * lots * 1000n;
  market.own = max(-MOST_OWN, min(MOST_OWN, own));
}

/** a recorded trade. */
export function noteRecorded(world: World, market: Market, price: bigint, lots: bigint): void {
  const minute = world.now / MINUTE_US;
  const now = market.minutes.at(-1);
  if (now !== undefined && !now.counts && now.minute === minute) {
    now.lots += lots;
    now.close = price;
    return;
  }
  if (now !== undefined) now.counts = true;
  const before = market.minutesCut ? null : (now?.close ?? null);
  market.minutes.push({ minute, lots, close: price, before, counts: false });
  market.minutesCut = false;
}

export function cutMinutes(market: Market): void {
  if (market.minutes.at(-1)?.counts === false) market.minutes.pop();
  market.minutesCut = true;
}

/** whether k ticks are at most the reach of this own volume. */
function reaches(market: Market, own: bigint, k: bigint): boolean {
  let squares = 0n;
  let volume = 0n;
  const counted = market.minutes.filter(({ counts, before }) => counts && before !== null);
  for (const { lots, close, before } of counted.slice(-60)) {
    const move = close - (before ?? close);
    squares += move * move;
    volume += lots;
  }
  const odd = 2n * k - 1n;
  return volume > 0n && odd * odd * volume * 1000n <= 4n * own * squares;
}

/** The reach on a side of house volume, with `more` lots taken from it. */
function isInReach(
  world: World,
  market: Market,
  side: bigint,
  distance: bigint,
  more = 0n,
): boolean {
  const own = -side * ownOf(world, market) + more * 1000n;
  // A level is within reach when its distance is below k, so when k reaches distance + 1.
  return own > 0n && reaches(market, min(own, MOST_OWN), max(1n, distance + 1n));
}

/** best price at which history states lots; null without any. */
function recordedBest(market: Market, side: bigint): bigint | null {
  const prices = [...market.house, ...market.withheld]
    .filter((level) => level.side === side)
    .map(({ price }) => price);
  return prices.length === 0 ? null : prices.reduce((a, b) => ((b - a) * side > 0n ? b : a));
}

const distanceOf = (market: Market, side: bigint, price: bigint): bigint =>
  ((recordedBest(market, side) ?? price) - price) * side;

/** Whether a level that history states at this price is within reach. */
export const isWithin = (world: World, market: Market, side: bigint, price: bigint): boolean =>
  isSquareRoot(market) && isInReach(world, market, side, distanceOf(market, side, price));

/** the fewest of up to `lots` lots with which the level comes within reach. */
export function allowanceOf(
  world: World,
  market: Market,
  side: bigint,
  price: bigint,
  lots: bigint,
): bigint {
  if (!isSquareRoot(market)) return lots;
  const distance = min(FAR, distanceOf(market, side, price));
  let [few, many] = [1n, lots];
  while (few < many) {
    const middle = (few + many) / 2n;
    if (isInReach(world, market, side, distance, middle)) many = middle;
    else few = middle + 1n;
  }
  return many;
}

/** Hidden lots of a level. */
export const hiddenAt = (market: Market, side: bigint, price: bigint): bigint =>
  market.withheld.find((level) => level.side === side && level.price === price)?.lots ?? 0n;

/** The book lacks a level that history states, with hidden lots of it; null: it does not. */
export function setWithheld(
  market: Market,
  side: bigint,
  price: bigint,
  lots: bigint | null,
): void {
  const at = market.withheld.findIndex((level) => level.side === side && level.price === price);
  if (at >= 0) market.withheld.splice(at, 1);
  if (lots !== null) market.withheld.push({ side, price, lots });
}

/** History states a level: withheld levels of the other side that it crosses end. */
export function endCrossed(market: Market, side: bigint, price: bigint): void {
  for (const level of [...market.withheld]) {
    if (level.side === side || (price - level.price) * side < 0n) continue;
    setWithheld(market, level.side, level.price, null);
  }
}
