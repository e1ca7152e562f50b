/** The event of a tape command: best bid and ask after it. */
import { lots } from '../../num/units.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { TapeApplied } from '../events.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { hashTapeApplied } from '../chain-hash/hash-event.ts';

export function emitTape(
  state: State,
  market: Market,
  what: TapeApplied['what'],
  stale: boolean,
): void {
  const { bids, asks } = market.book;
  const bid = bids.bestLevel();
  const ask = asks.bestLevel();
  const { context } = state;
  context.emit(hashTapeApplied, {
    kind: 'tapeApplied',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    market: market.id,
    what,
    bestBidTicks: bid === NO_LEVEL ? null : bids.price(bid),
    bestBidLots: lots(bid === NO_LEVEL ? 0 : bids.total(bid)),
    bestAskTicks: ask === NO_LEVEL ? null : asks.price(ask),
    bestAskLots: lots(ask === NO_LEVEL ? 0 : asks.total(ask)),
    stale,
  });
}
