/**
 * A historical bar. Its prices are played along a stated path through the real book
 * (bar-walk). If no order or position depends on a price in its range, it moves straight to its
 * close, with the same events, hashes and state (test/engine/tape/bars.test.ts).
 *
 * Then the synthetic book stands around `quoteTicks` until the next bar. Events report one change
 * of the mark and one `tapeApplied`; users' orders emit theirs as they occur.
 */
import { MAX_PRICE_TICKS, type Lots, type PriceTicks } from '../../num/units.ts';
import type { TapeBar } from '../commands.ts';
import type { Market } from '../market/market.ts';
import type { Outcome } from '../refusals.ts';
import { announceBar, noteBarQuotes, passBar } from '../pricing/bar-mark.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { quoteAround } from './bar-quotes.ts';
import { hasNoEffect, walkBar } from './bar-walk.ts';
import { takeFromSegment } from './house.ts';
import { emitTape } from './tape-event.ts';

/** Larger spreads are input errors. */
const MAX_SPREAD_TICKS = 1 << 24;

export function applyBar(state: State, bar: TapeBar): Outcome {
  const market = state.markets[bar.market];
  if (market === undefined) return { code: 'market_not_found' };
  if (market.status === 'delisted') return { code: 'market_delisted' };
  if (market.impact !== null) return { code: 'impact_needs_levels' };
  if (!isBar(bar)) return { code: 'tape_level_invalid' };
  const { context } = state;
  context.cause = 'tape';
  market.tape.stale = false;
  forgetOrders(state, market);
  market.candles.addBar(state, bar);
  context.markBookChanged(market);
  const { markTicks, indexTicks } = market;
  if (!state.playsBarsInFull && hasNoEffect(state, market, bar)) {
    quoteAround(state, market, bar, bar.quoteTicks, true);
    passBar(state, market, bar);
  } else {
    walkBar(state, market, bar);
    quoteAround(state, market, bar, bar.quoteTicks, true);
    noteBarQuotes(state, market);
  }
  announceBar(state, market, markTicks, indexTicks);
  emitTape(state, market, 'bar', false);
  return 'ok';
}

/** Bars have no single orders and levels: those of the last bar or recording are forgotten. */
function forgetOrders(state: ExchangeState, market: Market): void {
  const { orders } = market.tape;
  // A bar places its whole book again: nothing of it is taken.
  market.tape.forgetLevels();
  if (orders.size === 0) return;
  for (const slot of [...orders.values()]) {
    takeFromSegment(state, market, slot, Infinity);
  }
}

function isBar(bar: TapeBar): boolean {
  const { openTicks, highTicks, lowTicks, closeTicks, quoteTicks, spreadTicks } = bar;
  return (
    isPrice(lowTicks) &&
    isPrice(highTicks) &&
    isPrice(quoteTicks) &&
    Number.isSafeInteger(openTicks) &&
    Number.isSafeInteger(closeTicks) &&
    lowTicks <= Math.min(openTicks, closeTicks) &&
    highTicks >= Math.max(openTicks, closeTicks) &&
    isSize(bar.volumeLots) &&
    isSize(bar.depthLots) &&
    Number.isSafeInteger(spreadTicks) &&
    spreadTicks >= 0 &&
    spreadTicks <= MAX_SPREAD_TICKS
  );
}

function isPrice(ticks: PriceTicks): boolean {
  return Number.isSafeInteger(ticks) && ticks > 0 && ticks <= MAX_PRICE_TICKS;
}

function isSize(size: Lots): boolean {
  return Number.isSafeInteger(size) && size >= 0;
}
