/** What readers learn of a tape command: the touch after it. */
import { lots } from '../../num/units.ts';
import type { TapeApplied } from '../events.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { hashTapeApplied } from '../hash.ts';

export function emitTape(
  state: State,
  market: Market,
  what: TapeApplied['what'],
  stale: boolean,
): void {
  const bid = market.book.best(1);
  const ask = market.book.best(-1);
  state.emit(hashTapeApplied, {
    kind: 'tapeApplied',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    market: market.id,
    what,
    bestBidTicks: bid?.priceTicks ?? null,
    bestBidLots: bid?.lots ?? lots(0),
    bestAskTicks: ask?.priceTicks ?? null,
    bestAskLots: ask?.lots ?? lots(0),
    stale,
  });
}
