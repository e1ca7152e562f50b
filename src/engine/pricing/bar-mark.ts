/**
 * Index and mark along a historical bar (engine/tape/apply-bar). Each step's price is the last
 * price, and also index and mark if these follow the book. Events report one change at the end of
 * the bar. The mark is not due again until something else changes.
 */
import type { PriceTicks } from '../../num/units.ts';
import type { TapeBar } from '../commands.ts';
import type { Market } from '../market/market.ts';
import { fixOpenInterestCap } from '../market/open-interest.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { advanceEma, scheduleEma } from './basis-ema.ts';
import { noteQuotes } from './mark-price.ts';
import { emitMark, moveMark } from './recompute-mark.ts';

/** A step of a bar: triggers and positions are checked against its price. */
export function followBar(state: State, market: Market, price: PriceTicks): void {
  takeBarPrice(state, market, price);
  const { context } = state;
  context.noteSource(market, 'last');
  if (market.spec.indexSource === 'mid') context.noteSource(market, 'index');
  if (!markFollowsBars(market)) return;
  context.noteSource(market, 'mark');
  context.due.noteMoved(market);
}

/** A whole bar without pending orders or endangered positions: skips both checks. */
export function passBar(state: State, market: Market, bar: TapeBar): void {
  const { spec } = market;
  const price = bar.closeTicks;
  // The open is the first price of a market, which fixes its limit of open interest.
  if (market.indexTicks === null && market.markTicks === null) {
    takeBarPrice(state, market, bar.openTicks);
  }
  takeBarPrice(state, market, price);
  const source = state.config.triggerSource;
  const recomputed =
    source === 'last' ||
    (source === 'index' ? spec.indexSource === 'mid' : markFollowsBars(market));
  // As triggers would have recorded it.
  if (recomputed && !market.frozen) market.seenSource = price;
}

function takeBarPrice(state: State, market: Market, price: PriceTicks): void {
  market.lastTicks = price;
  if (market.spec.indexSource === 'mid') {
    advanceEma(state, market);
    fixOpenInterestCap(market, price);
    market.indexTicks = price;
    market.indexAtUs = state.nowUs;
  }
  noteBarQuotes(state, market);
  if (markFollowsBars(market)) moveMark(state, market, price);
}

/** Records the quotes that a bar leaves: its mark stays until something else changes. */
export function noteBarQuotes(state: ExchangeState, market: Market): void {
  noteQuotes(market);
  scheduleEma(state, market);
  market.markDueUs = Infinity;
}

/** Whether the mark of a bar's step is its price. A frozen mark stays. */
export function markFollowsBars({ spec, frozen }: Market): boolean {
  if (spec.markSource === 'external' || frozen) return false;
  return spec.indexSource === 'mid' || spec.markSource === 'last' || spec.markSource === 'mid';
}

/** End of the bar: emits `markChanged` if index or mark changed. */
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
