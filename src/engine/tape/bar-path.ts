/**
 * Price path of a bar. The data does not contain it, so it is a stated policy (docs/DATA.md). Every
 * path starts at the open, visits both extremes and ends at the close; policies differ in the first
 * extreme. It is chosen once the open has been played, because a gap to the open may fill an order,
 * fire a stop or move a trailing stop.
 *
 * - `nearest`: the extreme nearer to the open; the high on a tie.
 * - `worstCase`: the extreme against the users' net position: the low if long, the high if short,
 *   else as `nearest`.
 * - `stopFirst`: the extreme that fires a stop-loss or an active trailing stop, so a bar that
 *   reaches a stop and a profit counts as stopped; if both extremes do, or neither, as `nearest`.
 */
import type { TapeBar } from '../commands.ts';
import type { Market } from '../market/market.ts';
import type { OrderId } from '../../num/units.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { ORDER_TYPE_RULES } from '../orders/order-types.ts';
import { waitsIn } from '../orders/pending.ts';

/** The turning points of the path after its open, which has been played. */
export function turnsOf(state: ExchangeState, market: Market, bar: TapeBar): readonly number[] {
  const { highTicks, lowTicks, closeTicks } = bar;
  return highFirst(state, market, bar)
    ? [highTicks, lowTicks, closeTicks]
    : [lowTicks, highTicks, closeTicks];
}

function highFirst(state: ExchangeState, market: Market, bar: TapeBar): boolean {
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

/** Lots of the house; the users' net position is its negation. */
function housePosition(state: ExchangeState, market: Market): number {
  const makers = state.houseMaker.exposures[market.id]?.positionLots ?? 0;
  return makers + (state.houseTaker.exposures[market.id]?.positionLots ?? 0);
}

/** Whether a stop fires on the way up (1) or down (−1) between two prices. */
function stopsBetween(
  state: ExchangeState,
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
  return prices.between(up, low, high, waits).some((id) => {
    const type = state.orders.orderType(state.orders.slotOf(id));
    return ORDER_TYPE_RULES[type].firesOn === 'loss';
  });
}
