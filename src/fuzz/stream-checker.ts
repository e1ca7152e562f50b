/** Invariants of the event stream, from the first command on. */
import type { EngineEvent } from '../engine/events.ts';
import type { Engine } from '../engine/read/views.ts';
import { BookFeed } from './invariants/book-feed-over-time.ts';
import { FrozenMarkets } from './invariants/frozen-markets.ts';
import { Ledger } from './invariants/ledger-over-time.ts';
import { Nonces } from './invariants/nonces-over-time.ts';
import { OrderLifecycle } from './invariants/order-life.ts';
import { Positions } from './invariants/positions-over-time.ts';
import { Sequence } from './invariants/sequence.ts';
import type { StreamInvariant } from './invariants/stream-invariant.ts';
import { TransferPrices } from './invariants/transfer-prices.ts';
import { MarketData, Trades } from './invariants/trades-over-time.ts';
import type { Checker, Violation } from './checker.ts';
import { mustBeInterval } from './fuzz-error.ts';

export const newStreamInvariants = (): readonly StreamInvariant[] => [
  new Sequence(),
  new Nonces(),
  new OrderLifecycle(),
  new Positions(),
  new Ledger(),
  new Trades(),
  new MarketData(),
  new BookFeed(),
  new FrozenMarkets(),
  new TransferPrices(),
];

/** Follows one exchange; compares accumulated state every `compareEvery` commands. */
export function streamInvariants(compareEvery = 64): Checker {
  mustBeInterval('compareEvery', compareEvery);
  const all = newStreamInvariants();
  let applied = 0;
  const compare = (engine: Engine): void => {
    for (const invariant of all) invariant.compare(engine);
  };
  return {
    onEvent: (event: EngineEvent) => {
      for (const invariant of all) invariant.see(event);
    },
    after: (engine, command) => {
      for (const invariant of all) invariant.settle(engine, command);
      applied += 1;
      if (applied % compareEvery === 0) compare(engine);
      return firstFound(all);
    },
    end: (engine) => {
      compare(engine);
      return firstFound(all);
    },
  };
}

export function firstFound(all: readonly StreamInvariant[]): Violation | null {
  for (const { name, rule, says, found } of all) {
    if (found !== null) return { invariant: name, rule, says, detail: found };
  }
  return null;
}

/** Statement of each invariant, for documents and reports. */
export const STREAM_INVARIANTS: readonly Pick<Violation, 'invariant' | 'rule' | 'says'>[] =
  newStreamInvariants().map(({ name, rule, says }) => ({ invariant: name, rule, says }));
