/**
 * Impact prices: the average fill price of the impact notional against a side of the book.
 * Lots that no taker could fill do not count (decision 0145).
 */
import { affordsFill } from './afford.ts';
import { inPriority, levelsOf, sizeOf } from './book.ts';
import { allOf, feesOf } from './fees.ts';
import { fillable } from './legs.ts';
import { max, min, shareDown, shareUp } from './numbers.ts';
import { subOf, type Market, type Order, type World } from './world.ts';

/** A side that needs more levels, or more orders of users, than this is too thin. */
const MOST_LEVELS = 256;
const MOST_ORDERS = 1000;

/** As price = top ÷ bottom; null if the side (1n: its bids) is too thin. */
export function impact(
  world: World,
  market: Market,
  side: bigint,
): { top: bigint; bottom: bigint } | null {
  const notional = BigInt(market.spec.funding.impactNotional);
  const taken: Taken = { orders: 0, costs: new Map(), reduced: new Map() };
  let filled = 0n;
  let value = 0n;
  const prices = new Set<bigint>();
  for (const resting of inPriority(world, market, side)) {
    const { price, order } = resting;
    prices.add(price);
    if (prices.size > MOST_LEVELS) return null;
    const most = min(sizeOf(resting), (notional - value) / (price * market.unit) + 1n);
    const countsWhole = order === null || market.frozen;
    const size = countsWhole ? most : fillableOf(world, market, order, most, taken);
    if (taken.orders > MOST_ORDERS) return null;
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

/** Of the orders at better prices: their number, and by owner their costs and reduce-only lots. */
interface Taken {
  orders: number;
  readonly costs: Map<number, bigint>;
  readonly reduced: Map<number, bigint>;
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
  const reduced = taken.reduced.get(order.sub) ?? 0n;
  const size = order.reduceOnly ? min(most, fillable(world, order) - reduced) : most;
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
  if (order.reduceOnly) taken.reduced.set(order.sub, reduced + size);
  const loss = max(0n, side * (price - (market.mark ?? price))) * size * market.unit;
  taken.costs.set(order.sub, spent + loss + max(0n, allOf(fees)));
  return size;
}

/** Whether the resting lots of both sides suffice, whether a taker could fill them or not. */
export const hasDepth = (world: World, market: Market): boolean =>
  [1n, -1n].every((side) => {
    const levels = levelsOf(world, market, side).slice(0, MOST_LEVELS);
    const worth = levels.reduce((sum, [price, size]) => sum + price * size * market.unit, 0n);
    return worth >= BigInt(market.spec.funding.impactNotional);
  });

/** Both in whole ticks, rounded outward; null if either side is too thin. */
export function impactQuotes(world: World, market: Market): { bid: bigint; ask: bigint } | null {
  const bid = impact(world, market, 1n);
  const ask = impact(world, market, -1n);
  if (bid === null || ask === null) return null;
  return { bid: max(1n, shareDown(bid.top, bid.bottom)), ask: shareUp(ask.top, ask.bottom) };
}
