/**
 * The prices at which §6 closes positions. A take-over is at the worse of mark and index for the owner; a bankruptcy settles at the
 * index, which quotes on the book cannot move. Markets without an index use the mark for both.
 */
import { priceTicks, type PriceTicks } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { mustMark } from './requirement.ts';

/** R-6.2 (4), (5). */
export function settlementTicks(market: Market): PriceTicks {
  return market.indexTicks ?? mustMark(market);
}

/** R-6.2 (3), for an owner who is long (1) or short (−1). */
export function takeoverTicks(market: Market, side: 1 | -1): PriceTicks {
  const mark = mustMark(market);
  const index = market.indexTicks ?? mark;
  return priceTicks(side > 0 ? Math.min(mark, index) : Math.max(mark, index));
}

/**
 * How far prices moved in this step, in ticks: from the mark before its newest recomputation to the mark, and to the settlement
 * price. Both are 0 when the mark was not recomputed in this step.
 */
export function movesInStep(
  state: State,
  market: Market,
): { readonly mark: number; readonly settlement: number } {
  const before = market.markStep === state.step ? market.markBeforeTicks : null;
  if (before === null) return { mark: 0, settlement: 0 };
  return { mark: mustMark(market) - before, settlement: settlementTicks(market) - before };
}

/** Whether the market's own traders alone make its prices: no index, and no recorded liquidity. */
export function isSelfPriced({ spec }: Market): boolean {
  if (spec.recordedLiquidity) return false;
  return spec.markSource === 'last' || spec.markSource === 'mid' || spec.indexSource === 'mid';
}
