/**
 * Index and mark price (R-5.3, R-5.3a).
 *
 * Mark = median of three legs: the index; the index plus an EMA over 150 s of (mid − index); and the median of best
 * bid, best ask and last. It is clamped to the index ± `maxMarkDeviationPpm`. It is recomputed on an index or external-mark command and at
 * whole seconds after something changed, never while matching.
 *
 * The EMA's sample is the time-weighted basis since its last step: the basis in force is added up when it changes
 * (`settleQuotes`, once a command) and at steps, so advancing time in one go or in parts gives the same sums.
 */
import { must } from '../../base/assert.ts';
import { floorDiv, floorTo } from '../../num/arithmetic.ts';
import { priceTicks, timeUs, PPM, type PriceTicks, type TimeUs } from '../../num/units.ts';
import { SECOND_US, type Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { hashMarkChanged, hashOracleSet } from '../hash.ts';
import { noteMarkBefore } from './step-move.ts';

const EMA_SECONDS = 150;
/** Parts of a tick in the EMA. */
const MICRO = 1_000_000;

/** Whether the mark is frozen for want of a fresh index: then no fill may add risk (R-5.3, D-55). */
export function isFrozen(state: State, market: Market): boolean {
  const { markSource, indexSource } = market.spec;
  if (indexSource === 'mid' || (markSource !== 'median' && markSource !== 'index')) return false;
  return !hasFreshIndex(state, market);
}

/** Funding is paid on the index, so it needs a fresh one whatever the mark is made of (R-5.3, D-35). The book's own mid is never stale (D-13). */
export function hasFreshIndex(state: State, market: Market): boolean {
  if (market.indexTicks === null || market.spec.indexSource === 'mid') {
    return market.indexTicks !== null;
  }
  return state.nowUs - market.indexAtUs <= state.config.indexStaleUs;
}

/** The oracle or a recording speaks: takes the index over and recomputes the mark. */
export function setIndex(state: State, market: Market, price: PriceTicks, text: string): void {
  accrueBasis(market, state.nowUs);
  market.indexTicks = price;
  market.indexText = text;
  market.indexAtUs = state.nowUs;
  market.basisHalfTicks = basis(market);
  if (market.sampleDueUs === Infinity) market.sampleDueUs = market.nextSampleUs(state.nowUs);
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
  recomputeMark(state, market, false);
}

/** A recorded mark price. */
export function setMark(state: State, market: Market, price: PriceTicks): void {
  changeMark(state, market, price, market.indexTicks);
}

/**
 * A step of a bar (engine/tape/apply-bar): its price is the last, and index and mark too where these follow the book. Nothing is
 * announced before the bar is over. The mark is not due again until something else changes.
 */
export function followBar(state: State, market: Market, price: PriceTicks): void {
  takeBarPrice(state, market, price);
  state.noteSource(market, 'last');
  if (market.spec.indexSource === 'mid') state.noteSource(market, 'index');
  if (!markFollowsBars(market)) return;
  state.noteSource(market, 'mark');
  market.liquidationDue = true;
  state.liquidationDue = true;
}

/** The same where nothing waits for a price and nobody is in danger, so that neither triggers nor positions are looked at. */
export function passBar(state: State, market: Market, price: PriceTicks): void {
  takeBarPrice(state, market, price);
  const source = state.config.triggerSource;
  const recomputed =
    source === 'last' ||
    (source === 'index' ? market.spec.indexSource === 'mid' : markFollowsBars(market));
  // As triggers would have seen it.
  if (recomputed && !isFrozen(state, market)) market.seenSource = price;
}

function takeBarPrice(state: State, market: Market, price: PriceTicks): void {
  market.lastTicks = price;
  if (market.spec.indexSource === 'mid') {
    market.indexTicks = price;
    market.indexAtUs = state.nowUs;
  }
  noteBarQuotes(state, market);
  if (!markFollowsBars(market)) return;
  noteMarkBefore(state, market);
  market.markTicks = price;
}

/** Quotes that a bar leaves: its mark stands until something else changes. */
export function noteBarQuotes(state: State, market: Market): void {
  noteQuotes(state, market);
  market.markDueUs = Infinity;
}

/** Whether the mark of a bar's step is its price. */
export function markFollowsBars({ spec }: Market): boolean {
  if (spec.markSource === 'external') return false;
  return spec.indexSource === 'mid' || spec.markSource === 'last' || spec.markSource === 'mid';
}

/** The bar is over: its mark is told when it is another one than before. */
export function announceBar(
  state: State,
  market: Market,
  markBefore: PriceTicks | null,
  indexBefore: PriceTicks | null,
): void {
  if (market.markTicks === null) return;
  if (market.markTicks === markBefore && market.indexTicks === indexBefore) return;
  emitMark(state, market, market.markTicks);
}

/** At a whole second at which the market is due. */
export function runMarkTimer(state: State, market: Market): void {
  market.markDueUs = Infinity;
  accrueBasis(market, state.nowUs);
  let index = market.indexTicks;
  if (market.spec.indexSource === 'mid') {
    const mid = midHalfTicks(market);
    if (mid !== null) {
      index = priceTicks(Math.max(1, floorDiv(mid, 2)));
      market.indexAtUs = state.nowUs;
    }
  }
  recomputeMark(state, market, index !== market.indexTicks, index);
}

/**
 * After a command or a timer that touched the book: notes the new quotes, from now on in force, and makes the mark
 * due at the next whole second when they changed.
 */
export function settleQuotes(state: State): void {
  for (let i = 0; i < state.touchedCount; i++) {
    const market = must(state.touched[i], 'as many markets as counted are touched');
    market.touched = false;
    const bid = market.book.bestPrice(1);
    const ask = market.book.bestPrice(-1);
    if (bid === market.seenBid && ask === market.seenAsk && market.lastTicks === market.seenLast) {
      continue;
    }
    noteQuotes(state, market);
    if (market.markDueUs === Infinity) {
      market.markDueUs = floorTo(state.nowUs, SECOND_US) + SECOND_US;
    }
  }
  state.touchedCount = 0;
}

/** The quotes and the last price are in force from now on. */
function noteQuotes(state: State, market: Market): void {
  accrueBasis(market, state.nowUs);
  market.seenBid = market.book.bestPrice(1);
  market.seenAsk = market.book.bestPrice(-1);
  market.seenLast = market.lastTicks;
  market.basisHalfTicks = basis(market);
}

/** Best bid + best ask, in half ticks; null unless both are there. */
function midHalfTicks(market: Market): number | null {
  if (market.seenBid === 0 || market.seenAsk === 0) return null;
  return market.seenBid + market.seenAsk;
}

/** Mid, clamped, less index, in half ticks. */
function basis(market: Market): number | null {
  const mid = midHalfTicks(market);
  const index = market.indexTicks;
  if (mid === null || index === null) return null;
  const [low, high] = clampBounds(2 * index, market.spec.maxMarkDeviationPpm);
  return Math.min(high, Math.max(low, mid)) - 2 * index;
}

/** The deviation bounds around a price in any whole unit, rounded inward. Products stay below 2^53: prices are below 2^32. */
function clampBounds(price: number, deviationPpm: number): readonly [number, number] {
  const room = floorDiv(price * deviationPpm, PPM);
  return [price - room, price + room];
}

/**
 * Adds up the basis in force until now, stepping the EMA at the last whole second on the way. Since every change of the
 * basis comes through here first, the basis is constant over all that is added.
 */
function accrueBasis(market: Market, nowUs: TimeUs): void {
  const boundaryUs = timeUs(floorTo(nowUs, SECOND_US));
  if (boundaryUs > market.emaStepUs) {
    addBasis(market, boundaryUs);
    stepEma(market, boundaryUs);
  }
  addBasis(market, nowUs);
}

function addBasis(market: Market, untilUs: TimeUs): void {
  const elapsed = untilUs - market.basisSinceUs;
  if (elapsed <= 0) return;
  if (market.basisHalfTicks !== null) {
    const part = market.basisHalfTicks * elapsed;
    const sum = market.basisPart + part;
    if (Number.isSafeInteger(sum) && Number.isSafeInteger(part)) market.basisPart = sum;
    else market.basisSum += BigInt(market.basisHalfTicks) * BigInt(elapsed);
    market.basisUs += elapsed;
  }
  market.basisSinceUs = untilUs;
}

/** One step of the EMA; a stretch without any basis leaves it as it is. */
function stepEma(market: Market, boundaryUs: TimeUs): void {
  const settled = market.basisPart === 0 && market.basisSum === 0n && market.emaMicroTicks === 0;
  // Of no basis at all the average stays where it is, at 0.
  if (settled) market.basisUs = 0;
  if (market.basisUs > 0) {
    const elapsedSeconds = (boundaryUs - market.emaStepUs) / SECOND_US;
    const weight = Math.min(EMA_SECONDS, elapsedSeconds);
    const distance = meanBasis(market) - market.emaMicroTicks;
    market.emaMicroTicks += timesOver(distance, weight, EMA_SECONDS);
    market.basisSum = 0n;
    market.basisPart = 0;
    market.basisUs = 0;
  }
  market.emaStepUs = boundaryUs;
}

/** Of the time since the EMA's last step, in 1e-6 ticks, rounded towards 0. */
function meanBasis(market: Market): number {
  const { basisUs } = market;
  if (market.basisSum === 0n) return timesOver(market.basisPart, 500_000, basisUs);
  market.gatherBasis();
  return Number((market.basisSum * 500_000n) / BigInt(basisUs));
}

/** value × by ÷ divisor, rounded towards 0: in doubles while the product is exact, since then the quotient's whole part is, too. */
function timesOver(value: number, by: number, divisor: number): number {
  const product = value * by;
  if (Number.isSafeInteger(product)) return Math.trunc(product / divisor);
  return Number((BigInt(value) * BigInt(by)) / BigInt(divisor));
}

function recomputeMark(
  state: State,
  market: Market,
  indexChanged: boolean,
  index: PriceTicks | null = market.indexTicks,
): void {
  if (indexChanged) {
    market.indexTicks = index;
    market.basisHalfTicks = basis(market);
    market.wakeSampling(state.nowUs);
    state.noteSource(market, 'index');
  }
  if (market.spec.markSource === 'external' || isFrozen(state, market)) {
    if (indexChanged && market.markTicks !== null) emitMark(state, market, market.markTicks);
    return;
  }
  const raw = rawMark(market);
  if (raw === null) return;
  let mark = raw;
  if (index !== null) {
    const [low, high] = clampBounds(index, market.spec.maxMarkDeviationPpm);
    mark = priceTicks(Math.min(high, Math.max(low, raw)));
  }
  changeMark(state, market, mark, index, indexChanged);
}

function rawMark(market: Market): PriceTicks | null {
  const index = market.indexTicks;
  const mid = midHalfTicks(market);
  switch (market.spec.markSource) {
    case 'index':
      return index;
    case 'last':
      return market.lastTicks;
    case 'mid':
      return mid === null ? null : priceTicks(floorDiv(mid, 2));
    default: {
      if (index === null) return null;
      const smoothed = index + floorDiv(market.emaMicroTicks, MICRO);
      const quoted = middle(present(market.seenBid), present(market.seenAsk), market.lastTicks);
      return middle(index, priceTicks(Math.max(1, smoothed)), quoted);
    }
  }
}

function present(price: PriceTicks): PriceTicks | null {
  return price === 0 ? null : price;
}

/** Median of those present: of two the floor of their mean. */
function middle(
  a: PriceTicks | null,
  b: PriceTicks | null,
  c: PriceTicks | null,
): PriceTicks | null {
  if (a === null) return mean(b, c);
  if (b === null) return mean(a, c);
  if (c === null) return mean(a, b);
  return priceTicks(Math.max(Math.min(a, b), Math.min(Math.max(a, b), c)));
}

function mean(a: PriceTicks | null, b: PriceTicks | null): PriceTicks | null {
  if (a === null || b === null) return a ?? b;
  return priceTicks(floorDiv(a + b, 2));
}

function changeMark(
  state: State,
  market: Market,
  mark: PriceTicks,
  index: PriceTicks | null,
  indexChanged = false,
): void {
  const changed = mark !== market.markTicks || indexChanged;
  noteMarkBefore(state, market);
  market.markTicks = mark;
  market.indexTicks = index;
  state.noteSource(market, 'mark');
  market.liquidationDue = true;
  state.liquidationDue = true;
  if (changed) emitMark(state, market, mark);
}

function emitMark(state: State, market: Market, mark: PriceTicks): void {
  state.emit(hashMarkChanged, {
    kind: 'markChanged',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    market: market.id,
    markTicks: mark,
    indexTicks: market.indexTicks,
  });
}
