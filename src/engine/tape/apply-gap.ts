/** A gap in the recording: the house leaves the book until the next snapshot. */
import type { TapeGap } from '../commands.ts';
import type { Outcome } from '../refusals.ts';
import type { State } from '../state.ts';
import { housePrices } from './apply-snapshot.ts';
import { clearHouse } from './house.ts';
import { stateMid } from './stated-mid.ts';
import { emitTape } from './tape-event.ts';

export function applyGap(state: State, command: TapeGap): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  if (market.status === 'delisted') return { code: 'market_delisted' };
  state.context.cause = 'tape';
  market.tape.stale = true;
  for (const price of housePrices(market, 'bid')) clearHouse(state, market, 1, price);
  for (const price of housePrices(market, 'ask')) clearHouse(state, market, -1, price);
  market.tape.forgetLevels();
  market.tape.carry.clear();
  market.impact?.forgetHistory();
  stateMid(state, market, null);
  emitTape(state, market, 'gap', true);
  return 'ok';
}
