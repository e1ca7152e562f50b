/** Restricting and reopening a market. */
import type { SetMarketStatus } from '../commands.ts';
import type { Outcome } from '../rejections.ts';
import type { State } from '../state.ts';

export function setMarketStatus(state: State, command: SetMarketStatus): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return 'market_not_found';
  return 'market_delisted';
}
