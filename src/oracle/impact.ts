/**
 * Impact prices: the average fill price of the impact notional against a side of the book.
 */
import { levelsOf } from './book.ts';
import { max, shareDown, shareUp } from './numbers.ts';
import type { Market, World } from './world.ts';

/** A side that needs more levels than this is too thin. */
const MOST_LEVELS = 256;

/** As price = top ÷ bottom; null if the side (1n: its bids) is too thin. */
export function impact(
  world: World,
  market: Market,
  side: bigint,
): { top: bigint; bottom: bigint } | null {
  const notional = BigInt(market.spec.funding.impactNotional);
  let filled = 0n;
  let value = 0n;
  for (const [price, size] of levelsOf(world, market, side).slice(0, MOST_LEVELS)) {
    const worth = size * price * market.unit;
    if (value + worth < notional) {
      filled += size;
      value += worth;
      continue;
    }
    // notional ÷ (unit × lots); the last level gives (notional − value) ÷ (price × unit).
    return { top: notional * price, bottom: market.unit * filled * price + (notional - value) };
  }
  return null;
}

/** Both in whole ticks, rounded outward; null if either side is too thin. */
export function impactQuotes(world: World, market: Market): { bid: bigint; ask: bigint } | null {
  const bid = impact(world, market, 1n);
  const ask = impact(world, market, -1n);
  if (bid === null || ask === null) return null;
  return { bid: max(1n, shareDown(bid.top, bid.bottom)), ask: shareUp(ask.top, ask.bottom) };
}
