/** The book: resting orders in price-time priority, found by full scans. */
import { sign } from './numbers.ts';
import { leftOf, marketOf, type Market, type Order, type Segment, type World } from './world.ts';

/** A counterparty of a taker: an order, or recorded volume of the house. */
export interface Resting {
  readonly price: bigint;
  readonly arrival: number;
  readonly order: Order | null;
  readonly segment: Segment | null;
}

/** Resting entries of a side (1n bids, −1n asks), unordered. */
export function restingOn(world: World, market: Market, side: bigint): Resting[] {
  const found: Resting[] = [];
  for (const order of world.live) {
    if (!order.resting || order.market !== market.id || sign(order.lots) !== side) continue;
    found.push({ price: order.price, arrival: order.arrival, order, segment: null });
  }
  for (const segment of market.house) {
    if (segment.side !== side) continue;
    found.push({ price: segment.price, arrival: segment.arrival, order: null, segment });
  }
  return found;
}

export const sizeOf = ({ order, segment }: Resting): bigint =>
  order === null ? (segment?.lots ?? 0n) : leftOf(order);

/** Whether `a` has priority over `b`. */
const isBefore = (a: Resting, b: Resting, side: bigint): boolean =>
  a.price === b.price ? a.arrival < b.arrival : (a.price - b.price) * side > 0n;

export function bestOf(world: World, market: Market, side: bigint): Resting | undefined {
  let best: Resting | undefined;
  for (const other of restingOn(world, market, side)) {
    if (best === undefined || isBefore(other, best, side)) best = other;
  }
  return best;
}

export const bestPrice = (world: World, market: Market, side: bigint): bigint | null =>
  bestOf(world, market, side)?.price ?? null;

/** All entries of a side in the order in which takers meet them. */
export const inPriority = (world: World, market: Market, side: bigint): Resting[] =>
  restingOn(world, market, side).sort((a, b) => (isBefore(a, b, side) ? -1 : 1));

/** The queue of one price, front to back. */
export const queueAt = (world: World, market: Market, side: bigint, price: bigint): Resting[] =>
  restingOn(world, market, side)
    .filter((resting) => resting.price === price)
    .sort((a, b) => a.arrival - b.arrival);

/** Levels, best first. */
export function levelsOf(world: World, market: Market, side: bigint): [bigint, bigint][] {
  const levels = new Map<bigint, bigint>();
  for (const resting of restingOn(world, market, side)) {
    levels.set(resting.price, (levels.get(resting.price) ?? 0n) + sizeOf(resting));
  }
  return [...levels].sort(([a], [b]) => Number((b - a) * side));
}

/** Appends an order to the queue of its price. */
export function putOnBook(world: World, order: Order): void {
  marketOf(world, order.market).bookChanged = true;
  order.resting = true;
  world.arrivals += 1;
  order.arrival = world.arrivals;
}

/** Removes the order from the book. */
export function takeOffBook(world: World, order: Order): void {
  if (order.resting) marketOf(world, order.market).bookChanged = true;
  order.resting = false;
}
