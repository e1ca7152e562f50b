/** Changing the terms of a listed market. */
import type { SetMarketTerms } from '../commands.ts';
import type { Outcome } from '../rejections.ts';
import type { State } from '../state.ts';

export function setMarketTerms(state: State, command: SetMarketTerms): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return 'market_not_found';
  return 'market_delisted';
}
