/**
 * When index and mark change (R-5.3a): on an index or external-mark command, when terms come into
 * force, and at whole seconds after a change of the book or the last price. Never during matching.
 * The composition of the mark is in recompute-mark.ts and basis-ema.ts; bars are in bar-mark.ts.
 *
 * A change counter detects book changes once per command or timer instant (`settleQuotes`).
 */
import { must } from '../../base/assert.ts';
import { floorTo } from '../../num/arithmetic.ts';
import type { PriceTicks } from '../../num/units.ts';
import { hashOracleSet } from '../chain-hash/hash-event.ts';
import { SECOND_US, type Market } from '../market/market.ts';
import { fixOpenInterestCap } from '../market/open-interest.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { advanceEma, runEmaTimer, scheduleEma } from './basis-ema.ts';
import { noteSourcePrice } from './freshness.ts';
import { changeMark, recomputeFromBook, recomputeMark } from './recompute-mark.ts';
import { nextSampleUs } from './sampling.ts';

/** Sets the index from the oracle or recorded data and recomputes the mark. */
export function setIndex(state: State, market: Market, price: PriceTicks, text: string): void {
  advanceEma(state, market);
  fixOpenInterestCap(market, price);
  market.indexTicks = price;
  market.indexText = text;
  market.indexAtUs = state.nowUs;
  const { context } = state;
  context.emit(hashOracleSet, {
    kind: 'oracleSet',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    market: market.id,
    indexTicks: price,
  });
  context.noteSource(market, 'index');
  noteSourcePrice(state, market, 'index');
  scheduleEma(state, market);
  scheduleSample(state, market);
  recomputeMark(state, market);
}

/**
 * Sets a recorded mark price. A halted market ignores it, so its mark stays and its source ages.
 */
export function setMark(state: State, market: Market, price: PriceTicks): void {
  if (market.status === 'halted') return;
  market.markAtUs = state.nowUs;
  noteSourcePrice(state, market, 'mark');
  changeMark(state, market, price);
}

/** Recomputes a due market at a whole second. */
export function runMarkTimer(state: State, market: Market): void {
  market.markDueUs = Infinity;
  recomputeFromBook(state, market);
}

/** Takes a due EMA sample; the mark follows at the next whole second. */
export function runEmaSample(state: ExchangeState, market: Market): void {
  if (runEmaTimer(state, market)) makeMarkDue(state, market);
}

/** After a book change: schedules samples of basis and premium, and the mark at the next second. */
export function settleQuotes(state: State): void {
  const { context } = state;
  for (let i = 0; i < context.changedBookCount; i++) {
    const market = must(context.changedBooks[i], 'the used prefix has a market at every index');
    context.settleBook(market);
    if (market.status === 'delisted') continue;
    scheduleSample(state, market);
    if (market.book.changes !== market.seenChanges) scheduleEma(state, market);
    else if (market.lastTicks === market.seenLast) continue;
    noteQuotes(market);
    makeMarkDue(state, market);
  }
  context.changedBookCount = 0;
}

/** After a change of terms: values derived from the book may change. The mark is due at once. */
export function noteTerms(state: State, market: Market): void {
  state.context.markBookChanged(market);
  scheduleEma(state, market);
  market.markDueUs = state.nowUs;
}

function makeMarkDue(state: ExchangeState, market: Market): void {
  if (market.markDueUs !== Infinity) return;
  market.markDueUs = floorTo(state.nowUs, SECOND_US) + SECOND_US;
}

/** Premium sampling stops while there is no premium; a change of book or index restarts it. */
function scheduleSample(state: ExchangeState, market: Market): void {
  if (market.sampleDueUs !== Infinity || market.frozen) return;
  market.sampleDueUs = nextSampleUs(state, market, state.nowUs);
}

/** Records current book and last price as settled. */
export function noteQuotes(market: Market): void {
  market.seenChanges = market.book.changes;
  market.seenLast = market.lastTicks;
}
