/**
 * The prices at which §6 closes positions. A take-over is at the worse of mark and index for the owner; a bankruptcy settles at the
 * index, which quotes on the book cannot move. Markets without an index use the mark for both, and so do markets whose mark is
 * recorded: that is the venue's own fair price, and their index may be older.
 */
import { priceTicks, type PriceTicks } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { mustMark } from '../margin/requirement.ts';

/** R-6.2 (4), (5). */
export function settlementTicks(market: Market): PriceTicks {
  if (market.spec.markSource === 'external') return mustMark(market);
  return market.indexTicks ?? mustMark(market);
}

/** R-6.2 (3), for an owner who is long (1) or short (−1). */
export function takeoverTicks(market: Market, side: 1 | -1): PriceTicks {
  const mark = mustMark(market);
  const index = settlementTicks(market);
  return priceTicks(side > 0 ? Math.min(mark, index) : Math.max(mark, index));
}

/**
 * How far the price moved in this step, in ticks: from the mark before its newest recomputation to the settlement price; 0 when the
 * mark was not recomputed in this step.
 */
export function moveInStep(state: State, market: Market): number {
  const before = market.markStep === state.step ? market.markBeforeTicks : null;
  return before === null ? 0 : settlementTicks(market) - before;
}

/** Whether the market's own traders alone make its prices: no index, and no recorded liquidity. */
export function isSelfPriced({ spec }: Market): boolean {
  if (spec.recordedLiquidity) return false;
  return spec.markSource === 'last' || spec.markSource === 'mid' || spec.indexSource === 'mid';
}
