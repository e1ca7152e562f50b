/**
 * Impact prices: the average fill price of the impact notional against a side of the book.
 * Lots that no taker could fill do not count (decision 0145).
 */
import { affordsFill } from './afford.ts';
import { inPriority, sizeOf } from './book.ts';
import { allOf, feesOf } from './fees.ts';
import { coverOf, reducible } from './legs.ts';
import { max, min, shareDown, shareUp } from './numbers.ts';
import { subOf, type Market, type Order, type World } from './world.ts';

/** A side that needs more levels, or more orders of users, than this is too thin. */
const MOST_LEVELS = 256;
const MOST_ORDERS = 1000;
/** So many large orders give the notional; more small ones on the way make a side too thin. */
const PARTS = 256n;
const MOST_SMALL = 16_384;

interface Average {
  readonly top: bigint;
  readonly bottom: bigint;
}

/** Which lots of users count. */
interface Counted {
  /** Only those that a taker could fill. */
  readonly isFillable: boolean;
  /** Without orders that are worth less than a part of the notional. */
  readonly isLarge: boolean;
}

/** As price = top ÷ bottom; null if the side (1n: its bids) is too thin. */
export function impact(world: World, market: Market, side: bigint): Average | null {
  return unlessCut(walk(world, market, side, { isFillable: !market.frozen, isLarge: false }));
}

/** The impact price of a premium sample: of large orders beyond the limits (decision 0156). */
export const premiumImpact = (world: World, market: Market, side: bigint): Average | null =>
  ofAllOrLarge(world, market, side, true);

/** Whether the resting lots of both sides suffice, whether a taker could fill them or not. */
export const hasDepth = (world: World, market: Market): boolean =>
  [1n, -1n].every((side) => ofAllOrLarge(world, market, side, false) !== null);

function ofAllOrLarge(
  world: World,
  market: Market,
  side: bigint,
  isFillable: boolean,
): Average | null {
  const all = walk(world, market, side, { isFillable, isLarge: false });
  if (all !== 'cut') return all;
  return unlessCut(walk(world, market, side, { isFillable, isLarge: true }));
}

const unlessCut = (price: Average | 'cut' | null): Average | null =>
  price === 'cut' ? null : price;

/** `cut`: a limit ends the walk; null: the side ends. */
function walk(
  world: World,
  market: Market,
  side: bigint,
  { isFillable, isLarge }: Counted,
): Average | 'cut' | null {
  const notional = BigInt(market.spec.funding.impactNotional);
  const taken: Taken = { orders: 0, costs: new Map(), lots: new Map(), legs: new Map() };
  let filled = 0n;
  let value = 0n;
  let small = 0;
  const prices = new Set<bigint>();
  for (const resting of inPriority(world, market, side)) {
    const { price, order } = resting;
    if (prices.size === MOST_LEVELS && !prices.has(price)) return 'cut';
    const lots = sizeOf(resting);
    if (isLarge && order !== null && lots * price * market.unit * PARTS < notional) {
      small += 1;
      if (small > MOST_SMALL) return 'cut';
      continue;
    }
    const most = min(lots, (notional - value) / (price * market.unit) + 1n);
    const countsWhole = order === null || !isFillable;
    const size = countsWhole ? most : fillableOf(world, market, order, most, taken);
    if (taken.orders > MOST_ORDERS) return 'cut';
    if (size > 0n) prices.add(price);
    const worth = size * price * market.unit;
    if (value + worth < notional) {
      filled += size;
      value += worth;
      continue;
    }
    // notional ÷ (unit × lots); the last order gives (notional − value) ÷ (price × unit).
    return { top: notional * price, bottom: market.unit * filled * price + (notional - value) };
  }
  return null;
}

/** Of better orders: their number, by owner their costs and lots, and the lots of each leg. */
interface Taken {
  orders: number;
  readonly costs: Map<number, bigint>;
  readonly lots: Map<number, bigint>;
  readonly legs: Map<number, bigint>;
}

/** Lots of an order, at most `most`, that a taker could fill after those that are taken. */
function fillableOf(
  world: World,
  market: Market,
  order: Order,
  most: bigint,
  taken: Taken,
): bigint {
  taken.orders += 1;
  const spent = taken.costs.get(order.sub) ?? 0n;
  const before = taken.lots.get(order.sub) ?? 0n;
  let size = order.reduceOnly ? min(most, reducible(world, order) - before) : most;
  // Two legs share one cover.
  if (order.leg) {
    size = min(size, coverOf(world, order) - (taken.legs.get(order.sibling ?? -1) ?? 0n));
  }
  if (size <= 0n) return 0n;
  const side = order.lots > 0n ? 1n : -1n;
  const { price } = order;
  const fees = feesOf(market, order, 'maker', size, price);
  const isPaid = affordsFill(world, subOf(world, order.sub), market, {
    lots: side * size,
    price,
    fees: { ...fees, protocol: fees.protocol + spent },
    resting: order.reduceOnly ? null : order,
  });
  if (!isPaid) return 0n;
  taken.lots.set(order.sub, before + size);
  if (order.leg) taken.legs.set(order.id, size);
  const loss = max(0n, side * (price - (market.mark ?? price))) * size * market.unit;
  taken.costs.set(order.sub, spent + loss + max(0n, allOf(fees)));
  return size;
}

/** Both in whole ticks, rounded outward; null if either side is too thin. */
export function impactQuotes(world: World, market: Market): { bid: bigint; ask: bigint } | null {
  const bid = impact(world, market, 1n);
  const ask = impact(world, market, -1n);
  if (bid === null || ask === null) return null;
  return { bid: max(1n, shareDown(bid.top, bid.bottom)), ask: shareUp(ask.top, ask.bottom) };
}
