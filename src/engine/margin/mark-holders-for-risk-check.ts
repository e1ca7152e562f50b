/** Marks every holder of a market for a maintenance check at the end of the step. */
import type { State } from '../state.ts';
import type { Market } from '../market/market.ts';

export function markHoldersForRiskCheck(state: State, market: Market): void {
  for (const id of market.holders) state.markForRiskCheck(state.subaccount(id));
  state.context.due.riskCheck = true;
}
