/** The price band: max distances from the mark for taker fills and for resting orders. */
import { floorDivInt } from '../../num/arithmetic.ts';
import { PPM, type PriceTicks } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import { mustMark } from '../margin/requirement.ts';

/** Max distance of a resting order from the mark, in bands. */
const RESTING_BANDS = 10;

/** Worst price at which a taker of this side may fill now, rounded inward to the tick. */
export function bandLimit(market: Market, side: 1 | -1): number {
  const mark = mustMark(market);
  // mark × ppm stays below 2^31 × 1e6 < 2^53, so the product and the floor are exact.
  return mark + side * floorDivInt(mark * market.spec.priceBandPpm, PPM);
}

/**
 * Whether a resting price is further from the mark than ten bands, compared by cross-multiplying.
 */
export function isBeyondRestingLimit(market: Market, price: PriceTicks): boolean {
  const mark = mustMark(market);
  // Both products stay below 2^31 × 1e6 < 2^53, so they are exact.
  return Math.abs(price - mark) * (PPM / RESTING_BANDS) > mark * market.spec.priceBandPpm;
}
