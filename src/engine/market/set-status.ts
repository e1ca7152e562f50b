/**
 * Restricting and reopening a market. The status applies to new and activated orders only.
 * `halted` also freezes the market (R-5.3b).
 */
import type { SetMarketStatus } from '../commands.ts';
import type { MarketStatus } from '../config.ts';
import { hashMarketStatusChanged } from '../chain-hash/hash-event.ts';
import { logOperator } from '../operator-log.ts';
import { recallDebts } from '../liquidation/clearing-debt.ts';
import type { Outcome } from '../refusals.ts';
import { freezeForHalt, thawAfterHalt } from '../pricing/freshness.ts';
import type { State } from '../state.ts';
import type { Market } from './market.ts';

export function setMarketStatus(state: State, command: SetMarketStatus): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  if (market.status === 'delisted') return { code: 'market_delisted' };
  const before = market.status;
  changeStatus(state, market, command.status);
  if (command.status === 'halted' && before !== 'halted') freezeForHalt(state, market);
  if (command.status !== 'halted' && before === 'halted') {
    thawAfterHalt(state, market);
    recallDebts(state, market);
  }
  logOperator(state, 'setMarketStatus', { market: market.id, detail: command.status });
  return 'ok';
}

export function changeStatus(state: State, market: Market, status: MarketStatus): void {
  market.status = status;
  const { context } = state;
  context.emit(hashMarketStatusChanged, {
    kind: 'marketStatusChanged',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    market: market.id,
    status,
  });
}
