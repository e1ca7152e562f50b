/**
 * Prices at which §6 closes positions. A take-over uses the worse of mark and index for the owner;
 * a bankruptcy settles at the index, which book quotes cannot move. Markets without an index use
 * the mark for both. So do markets with a recorded mark: it is the venue's fair price.
 */
import { priceTicks, type PriceTicks } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { mustMark } from '../margin/requirement.ts';

/** Settlement price (R-6.2 (4), (5)). */
export function settlementTicks(market: Market): PriceTicks {
  if (market.spec.markSource === 'external') return mustMark(market);
  return market.indexTicks ?? mustMark(market);
}

/** Take-over price (R-6.2 (3)), for an owner who is long (1) or short (−1). */
export function takeoverTicks(market: Market, side: 1 | -1): PriceTicks {
  const mark = mustMark(market);
  const index = settlementTicks(market);
  return priceTicks(side > 0 ? Math.min(mark, index) : Math.max(mark, index));
}

/** Ticks from the previous mark to the settlement price; 0 if this step has not moved the mark. */
export function moveInStep(state: State, market: Market): number {
  const before = state.context.markBefore(market);
  return before === null ? 0 : settlementTicks(market) - before;
}

/** Whether only the market's own traders make its prices: no index and no recorded liquidity. */
export function isSelfPriced({ spec }: Market): boolean {
  if (spec.recordedLiquidity) return false;
  return spec.markSource === 'last' || spec.markSource === 'mid' || spec.indexSource === 'mid';
}
