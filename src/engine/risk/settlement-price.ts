/**
 * Prices at which positions change hands outside the book (§6): the settlement price of clearing, and the take-over price of the vault.
 */
import type { PriceTicks } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import { mustMark } from './requirement.ts';

/** The index, or the mark of a market without one: both sides of a clearing are closed there. */
export function settlementTicks(market: Market): PriceTicks {
  return market.indexTicks ?? mustMark(market);
}

/** The worse of mark and index for the holder of this side. */
export function takeoverTicks(market: Market, side: number): PriceTicks {
  const mark = mustMark(market);
  const index = market.indexTicks;
  if (index === null) return mark;
  return side > 0 === mark < index ? mark : index;
}
