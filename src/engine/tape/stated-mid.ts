/**
 * The mid of a synthetic book (bars, recorded trades) whose levels stay beside users' orders that
 * they would cross. Such an order holds a level away from its price for as long as it rests, so the
 * mid of the book would be the owner's choice. Index and mark have the stated mid then.
 */
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';

/** Best bid + best ask as history states them, in half ticks; null: the book has them. */
export function stateMid(state: State, market: Market, halfTicks: number | null): void {
  if (market.tape.statedHalfTicks === halfTicks) return;
  market.tape.statedHalfTicks = halfTicks;
  market.book.changes += 1;
  state.context.markBookChanged(market);
}
