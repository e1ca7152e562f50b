/**
 * When index and mark change (R-5.3a): on an index or external-mark command, and at whole seconds after the book or the last price
 * changed. Never while matching. What the mark is made of: recompute-mark.ts and basis-ema.ts; of bars: bar-mark.ts.
 *
 * Changes of the book are noted once a command or timer instant (`settleQuotes`), by a counter: nothing is walked there.
 */
import { must } from '../../base/assert.ts';
import { floorTo } from '../../num/arithmetic.ts';
import type { PriceTicks } from '../../num/units.ts';
import { hashOracleSet } from '../chain-hash/hash-event.ts';
import { SECOND_US, type Market } from '../market/market.ts';
import { fixOpenInterestCap } from '../market/open-interest.ts';
import type { State } from '../state.ts';
import { advanceEma, runEmaTimer, scheduleEma } from './basis-ema.ts';
import { noteSourcePrice } from './freshness.ts';
import { changeMark, recomputeFromBook, recomputeMark } from './recompute-mark.ts';
import { nextSampleUs } from './sampling.ts';

/** A price of the oracle or of recorded data: it is the index from now on, and the mark is recomputed. */
export function setIndex(state: State, market: Market, price: PriceTicks, text: string): void {
  advanceEma(state, market);
  fixOpenInterestCap(market, price);
  market.indexTicks = price;
  market.indexText = text;
  market.indexAtUs = state.nowUs;
  state.emit(hashOracleSet, {
    kind: 'oracleSet',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    market: market.id,
    indexTicks: price,
  });
  state.noteSource(market, 'index');
  noteSourcePrice(state, market, 'index');
  scheduleEma(state, market);
  scheduleSample(state, market);
  recomputeMark(state, market);
}

/** A recorded mark price. A halted market takes none, so that its mark stays and its source grows old. */
export function setMark(state: State, market: Market, price: PriceTicks): void {
  if (market.status === 'halted') return;
  market.markAtUs = state.nowUs;
  noteSourcePrice(state, market, 'mark');
  changeMark(state, market, price);
}

/** At a whole second at which the market is due. */
export function runMarkTimer(state: State, market: Market): void {
  market.markDueUs = Infinity;
  recomputeFromBook(state, market);
}

/** A sample of the EMA is due; the mark follows at the next whole second. */
export function runEmaSample(state: State, market: Market): void {
  if (runEmaTimer(state, market)) makeMarkDue(state, market);
}

/**
 * After a command or a timer that touched the book: samples of basis and premium are scheduled, and the mark is due at the next whole
 * second when the book or the last price changed.
 */
export function settleQuotes(state: State): void {
  for (let i = 0; i < state.changedBookCount; i++) {
    const market = must(state.changedBooks[i], 'as many markets as counted are touched');
    market.bookChanged = false;
    if (market.status === 'delisted') continue;
    scheduleSample(state, market);
    if (market.book.changes !== market.seenChanges) scheduleEma(state, market);
    else if (market.lastTicks === market.seenLast) continue;
    noteQuotes(market);
    makeMarkDue(state, market);
  }
  state.changedBookCount = 0;
}

/** Other terms are in force: what is made of the book may be another by them. */
export function noteTerms(state: State, market: Market): void {
  state.markBookChanged(market);
  scheduleEma(state, market);
  makeMarkDue(state, market);
}

function makeMarkDue(state: State, market: Market): void {
  if (market.markDueUs !== Infinity) return;
  market.markDueUs = floorTo(state.nowUs, SECOND_US) + SECOND_US;
}

/** Sampling of the premium stops while nothing could be sampled; a change of book or index starts it again. */
function scheduleSample(state: State, market: Market): void {
  if (market.sampleDueUs !== Infinity || market.frozen) return;
  market.sampleDueUs = nextSampleUs(state, market, state.nowUs);
}

/** Book and last price as they are now are settled. */
export function noteQuotes(market: Market): void {
  market.seenChanges = market.book.changes;
  market.seenLast = market.lastTicks;
}
