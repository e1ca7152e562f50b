/**
 * A bar step by step: the price follows the path and stops where orders or positions need it (§6).
 *
 * Between turning points it stops at users' resting orders, at triggers and trailing stops, and at
 * prices that make a unit liquidatable. At each stop, in this order (D-66): reached resting orders
 * fill at their own prices, best first, at most `depthLots` per leg; the synthetic book moves; the
 * price becomes the last price, and index and mark if these follow the book; triggers fire;
 * positions are checked. Between the last bar and the open the price jumps: passed orders fill at
 * their own prices, triggers fire at the open.
 */
import { priceTicks } from '../../num/units.ts';
import type { TapeBar } from '../commands.ts';
import type { Market } from '../market/market.ts';
import { settleFollowUps } from '../orders/pending-effects.ts';
import { runTriggers } from '../orders/triggers.ts';
import { waitsIn } from '../orders/pending.ts';
import { followBar, markFollowsBars } from '../pricing/bar-mark.ts';
import { clearBelowZero } from '../liquidation/clearing.ts';
import { firstDanger } from '../liquidation/endangered.ts';
import { runLiquidations } from '../liquidation/liquidation.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { turnsOf } from './bar-path.ts';
import { bestUser, nextUser, quoteAround } from './bar-quotes.ts';
import { takeUsers } from './house-take.ts';

export function walkBar(state: State, market: Market, bar: TapeBar): void {
  let at: number = bar.openTicks;
  stop(state, market, bar, at, bar.depthLots);
  // The open may fill, trigger or move orders on which the path depends.
  for (const to of turnsOf(state, market, bar)) {
    let capacity: number = bar.depthLots;
    while (at !== to) {
      at = nextStop(state, market, bar, { from: at, to, capacity });
      capacity -= stop(state, market, bar, at, capacity);
    }
  }
}

/** Whether nothing in the market depends on a price of the bar. Conservative: may be false. */
export function hasNoEffect(state: ExchangeState, market: Market, bar: TapeBar): boolean {
  const { lowTicks: low, highTicks: high } = bar;
  if (state.anyRiskCheckPending) return false;
  if (bestUser(state, market, 1) >= low || bestUser(state, market, -1) <= high) return false;
  const { prices, activations, selling, buying } = market.triggers;
  if (prices.mayWaitWithin(low, high) || activations.mayWaitWithin(low, high)) return false;
  if (!selling.isEmpty || !buying.isEmpty) return false;
  return low >= market.liquidation.safeFrom && high <= market.liquidation.safeTo;
}

/** Stops at a price. Returns the lots taken from resting orders, at most `capacity`. */
function stop(state: State, market: Market, bar: TapeBar, price: number, capacity: number): number {
  const margin = bar.fill === 'through' ? 1 : 0;
  const bids = takeUsers(state, market, 1, price + margin, capacity);
  const asks = takeUsers(state, market, -1, price - margin, capacity - bids);
  quoteAround(state, market, bar, price);
  followBar(state, market, priceTicks(price));
  settleFollowUps(state);
  const { context } = state;
  if (context.due.riskCheck) clearBelowZero(state);
  runTriggers(state);
  runLiquidations(state);
  // Fired stops have traded; effects on others wait for the next stop.
  context.cause = 'tape';
  return bids + asks;
}

/** What is left of a leg of the path, and the lots that resting orders may still take in it. */
interface Leg {
  readonly from: number;
  readonly to: number;
  readonly capacity: number;
}

/** The first price after `from` toward `to` on which something depends, or `to`. */
function nextStop(state: State, market: Market, bar: TapeBar, { from, to, capacity }: Leg): number {
  const up = to > from ? 1 : -1;
  let next = to;
  if (capacity > 0) {
    // The price that fills the best order which this leg has not passed.
    const margin = bar.fill === 'through' ? up : 0;
    const user = nextUser(state, market, up > 0 ? -1 : 1, from - margin);
    if (user !== null) next = sooner(up, from, next, user + margin);
  }
  const follows = markFollowsBars(market);
  const waits = waitsIn(state);
  const { triggerSource } = state.config;
  const triggersFollow =
    triggerSource === 'last' ||
    (triggerSource === 'index' ? market.spec.indexSource === 'mid' : follows);
  if (triggersFollow) next = sooner(up, from, next, market.triggers.prices.next(up, from, waits));
  if (!follows) return next;
  next = sooner(up, from, next, market.triggers.activations.next(up, from, waits));
  const trailing = up > 0 ? market.triggers.buying : market.triggers.selling;
  next = sooner(up, from, next, trailing.next(waits));
  // A unit in danger only beyond another stop is found from there.
  if (market.markTicks === null) return next;
  return sooner(up, from, next, firstDanger(state, market, priceTicks(next)));
}

/** The price if it is between `from` and `next`, otherwise `next`. */
function sooner(up: 1 | -1, from: number, next: number, price: number | null): number {
  if (price === null || up * price <= up * from) return next;
  return up * price < up * next ? price : next;
}
