/**
 * Recomputing a mark (R-5.3, R-5.3a). A `median` mark has three legs:
 *
 * 1. the index;
 * 2. the index + the EMA of the basis, at least one tick;
 * 3. the last price clipped to impact bid and ask; absent with a thin side or without trades.
 *
 * The mark is their median, or the floor of the mean of the first two, clamped to the index ±
 * `maxMarkDeviationPpm`. The book is walked only if the first two legs differ.
 */
import { floorDivInt } from '../../num/arithmetic.ts';
import { PPM, priceTicks, type PriceTicks } from '../../num/units.ts';
import { hashMarkChanged } from '../chain-hash/hash-event.ts';
import type { OrderBook } from '../book/order-book.ts';
import { NO_LEVEL } from '../book/price-ladder.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { Market } from '../market/market.ts';
import { fixOpenInterestCap } from '../market/open-interest.ts';
import type { State } from '../state.ts';
import { advanceEma, scheduleEma } from './basis-ema.ts';
import { impactQuotes } from './impact-price.ts';
import { nextSampleUs } from './sampling.ts';

/** Parts of a tick in the EMA. */
const MICRO = 1_000_000;

/** At a whole second or after a reopening: first the index, if it is the book's own mid. */
export function recomputeFromBook(state: State, market: Market): void {
  advanceEma(state, market);
  recomputeMark(state, market, takeMidIndex(state, market));
}

/** Returns whether the index changed. */
function takeMidIndex(state: State, market: Market): boolean {
  if (market.spec.indexSource !== 'mid') return false;
  const mid = midHalfTicks(market);
  if (mid === null) return false;
  const index = priceTicks(Math.max(1, floorDivInt(mid, 2)));
  market.indexAtUs = state.nowUs;
  if (index === market.indexTicks) return false;
  fixOpenInterestCap(market, index);
  market.indexTicks = index;
  scheduleEma(state, market);
  // A sample at this very instant counts.
  if (market.sampleDueUs === Infinity && !market.frozen) {
    market.sampleDueUs = nextSampleUs(state, market, state.nowUs - 1);
  }
  state.context.noteSource(market, 'index');
  return true;
}

/** The caller has advanced the EMA. `indexChanged`: emits a new index even if the mark stays. */
export function recomputeMark(state: State, market: Market, indexChanged = false): void {
  const mark = market.frozen ? null : markOf(state, market);
  if (mark !== null) changeMark(state, market, mark, indexChanged);
  else if (indexChanged && market.markTicks !== null) emitMark(state, market, market.markTicks);
}

/** The new mark; null if it stays. Without a new price the present mark is clamped. */
function markOf(state: ExchangeState, market: Market): PriceTicks | null {
  if (market.spec.markSource === 'external') return null;
  const raw = rawMark(state, market) ?? market.markTicks;
  const index = market.indexTicks;
  if (raw === null || index === null) return raw;
  const deviation = floorDivInt(index * market.spec.maxMarkDeviationPpm, PPM);
  return priceTicks(Math.max(1, Math.min(index + deviation, Math.max(index - deviation, raw))));
}

function rawMark(state: ExchangeState, market: Market): PriceTicks | null {
  switch (market.spec.markSource) {
    case 'index':
      return market.indexTicks;
    case 'last':
      return market.lastTicks;
    case 'mid': {
      const mid = midHalfTicks(market);
      return mid === null ? null : priceTicks(floorDivInt(mid, 2));
    }
    default:
      return medianOfLegs(state, market);
  }
}

function medianOfLegs(state: ExchangeState, market: Market): PriceTicks | null {
  const index = market.indexTicks;
  if (index === null) return null;
  const smoothed = smoothedIndex(market, index);
  if (smoothed === index) return index;
  const last = clippedLast(state, market);
  if (last === null) return priceTicks(floorDivInt(index + smoothed, 2));
  const [low, high] = index < smoothed ? [index, smoothed] : [smoothed, index];
  return priceTicks(Math.max(low, Math.min(high, last)));
}

/** The second leg. */
export function smoothedIndex(market: Market, index: PriceTicks): PriceTicks {
  return priceTicks(Math.max(1, index + floorDivInt(market.emaMicroTicks, MICRO)));
}

/** The third leg: the last price within impact bid and ask. */
export function clippedLast(state: ExchangeState, market: Market): number | null {
  const last = market.lastTicks;
  const quotes = last === null ? null : impactQuotes(state, market);
  if (last === null || quotes === null) return null;
  return Math.max(quotes.bid, Math.min(quotes.ask, last));
}

/**
 * Best bid + best ask in half ticks; null unless both are there. A side of a recorded book that has
 * users' orders only is history that was taken: those orders, which may be far away, are no price.
 * Nor is an order that holds a level of a synthetic book away from its price (decision 0143).
 */
function midHalfTicks({ book, spec, tape }: Market): number | null {
  const bid = book.bestPrice(1);
  const ask = book.bestPrice(-1);
  if (bid === 0 || ask === 0) return null;
  if (spec.recordedLiquidity && !(hasHouse(book, 1) && hasHouse(book, -1))) return null;
  return tape.statedHalfTicks ?? bid + ask;
}

function hasHouse(book: OrderBook, side: 1 | -1): boolean {
  const ladder = book.ladder(side);
  let level = ladder.bestLevel();
  while (level !== NO_LEVEL && ladder.houseTotal(level) === 0) level = ladder.nextLevel(level);
  return level !== NO_LEVEL;
}

/** Recomputes the mark as this price: triggers and positions are checked against it. */
export function changeMark(
  state: State,
  market: Market,
  mark: PriceTicks,
  indexChanged = false,
): void {
  const changed = mark !== market.markTicks || indexChanged;
  moveMark(state, market, mark);
  const { context } = state;
  context.noteSource(market, 'mark');
  context.due.noteMoved(market);
  if (changed) emitMark(state, market, mark);
}

/** Sets the mark; the previous step's mark stays available for the rules of §6. */
export function moveMark(state: State, market: Market, mark: PriceTicks): void {
  fixOpenInterestCap(market, mark);
  state.context.noteMarkBefore(market, market.markTicks ?? mark);
  market.markTicks = mark;
}

export function emitMark(state: State, market: Market, mark: PriceTicks): void {
  const { context } = state;
  context.emit(hashMarkChanged, {
    kind: 'markChanged',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    market: market.id,
    markTicks: mark,
    indexTicks: market.indexTicks,
  });
}
