/**
 * In what order a bar's prices were traded: unknown to a bar, so a stated policy (docs/DATA.md). Every path begins at the open, visits both
 * extremes and ends at the close; policies differ in which extreme comes first.
 *
 * - `nearest`: the extreme nearer to the open; the high when both are as near.
 * - `worstCase`: the extreme that hurts what users hold in sum: the low when they are long, the high when they are short,
 *   else as `nearest`.
 * - `stopFirst`: the extreme that fires a stop-loss or an active trailing stop, so that a bar which reaches a stop and a
 *   profit counts as stopped; when both extremes do, or neither, as `nearest`.
 */
import type { TapeBar } from '../commands.ts';
import type { Market } from '../market/market.ts';
import type { OrderId } from '../../num/units.ts';
import type { State } from '../state.ts';
import { waitsIn } from '../orders/pending.ts';

/** The prices at which the path turns, the open and the close included. */
export function pathOf(state: State, market: Market, bar: TapeBar): readonly number[] {
  const { openTicks, highTicks, lowTicks, closeTicks } = bar;
  return highFirst(state, market, bar)
    ? [openTicks, highTicks, lowTicks, closeTicks]
    : [openTicks, lowTicks, highTicks, closeTicks];
}

function highFirst(state: State, market: Market, bar: TapeBar): boolean {
  const nearer = bar.highTicks - bar.openTicks <= bar.openTicks - bar.lowTicks;
  switch (bar.path) {
    case 'worstCase': {
      const held = -housePosition(state, market);
      return held === 0 ? nearer : held < 0;
    }
    case 'stopFirst': {
      const above = stopsBetween(state, market, 1, bar.openTicks, bar.highTicks);
      const below = stopsBetween(state, market, -1, bar.lowTicks, bar.openTicks);
      return above === below ? nearer : above;
    }
    default:
      return nearer;
  }
}

/** Lots of the house: users hold the opposite in sum. */
function housePosition(state: State, market: Market): number {
  const makers = state.houseMaker.exposures[market.id]?.positionLots ?? 0;
  return makers + (state.houseTaker.exposures[market.id]?.positionLots ?? 0);
}

/** Whether a stop fires on the way up (1) or down (−1) between two prices. */
function stopsBetween(
  state: State,
  market: Market,
  up: 1 | -1,
  low: number,
  high: number,
): boolean {
  const { prices, selling, buying } = market.triggers;
  const waits = waitsIn(state);
  const trailing = up > 0 ? buying : selling;
  const distanceOf = (id: OrderId): number =>
    state.orders.conditional(state.orders.slotOf(id))?.trailingPpm ?? 0;
  if (trailing.firesWithin(low, high, waits, distanceOf)) return true;
  return prices
    .between(up, low, high, waits)
    .some((id) => state.orders.orderType(state.orders.slotOf(id)) === 'stopLoss');
}
