/**
 * How far the mark of a market moved in the current step: one command, or one instant of timers. What a holder gained there bounds what it
 * can be charged, and what the bankrupt lost there decides where its deficit is laid.
 */
import type { PriceTicks } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';

/** Called before a new mark is assigned. The first mark of a step counts; later ones are measured from the same mark. */
export function noteMarkBefore(state: State, market: Market): void {
  if (market.markStep === state.step) return;
  market.markStep = state.step;
  market.markBeforeTicks = market.markTicks;
}

/** The mark before this step's first recomputation; null when the mark was not recomputed in this step, or had none before. */
export function markBeforeStep(state: State, market: Market): PriceTicks | null {
  return market.markStep === state.step ? market.markBeforeTicks : null;
}
