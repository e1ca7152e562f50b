/**
 * Firing of pending orders (§4): after a recomputation of the source, and for new triggers.
 *
 * All orders due in one instant are collected first, then fired in the order of. Effects of
 * their fills on the mark wait for its next recomputation. Only the last price may move while they
 * fire: then there are rounds, in which no order fires twice.
 */
import type { OrderId, PriceTicks } from '../../num/units.ts';
import { NONE } from '../book/order-table.ts';
import type { Market } from '../market/market.ts';
import { isFrozen } from '../pricing/freshness.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { settleFollowUps } from './pending-effects.ts';
import { coverOf, fillableLots } from './protective-orders.ts';
import { activate } from './activate.ts';
import type { Special } from './conditional.ts';
import type { Reached } from './reached.ts';
import { arm, firesAt, follow, waitsIn } from './pending.ts';

interface Due {
  readonly id: OrderId;
  readonly market: Market;
  readonly takesProfit: boolean;
  /** From the previous source price, in ticks. */
  readonly distance: number;
  readonly source: PriceTicks;
}

export function runTriggers(state: State): void {
  const { context } = state;
  if (!context.due.anyRepriced && context.newTriggers.length === 0) return;
  let fired: Set<OrderId> | null = null;
  do {
    const due = dueNow(state, fired);
    if (due.length === 0) return;
    due.sort(inOrder);
    fired ??= new Set();
    for (const { id } of due) context.firing.add(id);
    for (const { id, source } of due) {
      context.firing.delete(id);
      fire(state, id, source, fired);
    }
    settleFollowUps(state);
  } while (state.config.triggerSource === 'last' && context.due.anyRepriced);
}

/** All orders due in this instant; those already fired in it are rearmed. */
function dueNow(state: State, fired: Set<OrderId> | null): Due[] {
  const due: Due[] = [];
  const { context } = state;
  if (context.due.anyRepriced) addDue(state, due);
  if (context.newTriggers.length > 0) addNewDue(state, due);
  return fired === null ? due : due.filter(({ id }) => !rearmIfFired(state, id, fired));
}

function inOrder(a: Due, b: Due): number {
  return (
    a.market.id - b.market.id ||
    Number(a.takesProfit) - Number(b.takesProfit) ||
    a.distance - b.distance ||
    a.id - b.id
  );
}

function rearmIfFired(state: ExchangeState, id: OrderId, fired: Set<OrderId>): boolean {
  if (!fired.has(id)) return false;
  rearm(state, id);
  return true;
}

/** Re-arms the trigger; emits no event. */
function rearm(state: ExchangeState, id: OrderId): void {
  const slot = state.orders.slotOf(id);
  const conditional = slot === NONE ? null : state.orders.conditional(slot);
  if (conditional !== null) arm(state, state.market(state.orders.market(slot)), slot, conditional);
}

function fire(state: State, id: OrderId, source: PriceTicks, fired: Set<OrderId>): void {
  const table = state.orders;
  const slot = table.slotOf(id);
  if (slot === NONE || !table.isWaiting(slot)) return;
  const conditional = table.conditional(slot);
  if (conditional === null) return;
  if (conditional.leg) {
    const exposure = state.subaccount(table.subaccount(slot)).exposure(table.market(slot));
    // If both legs are due in one instant the stop-loss fires and the take-profit waits.
    const siblingFired = conditional.sibling !== null && fired.has(conditional.sibling.orderId);
    if (siblingFired || fillableLots(table, slot, exposure) === 0) {
      if (coverOf(table, slot, conditional) > 0) rearm(state, id);
      return;
    }
  }
  fired.add(id);
  activate(state, slot, 'trigger', source);
}

/** Adds orders whose recomputed source reached their price. */
function addDue(state: State, due: Due[]): void {
  for (const { market, sourceIsNew, markIsNew } of state.context.due.takeRepriced()) {
    if (isFrozen(market)) continue;
    const source = sourceOf(state, market);
    const reached: Reached[] = [];
    if (markIsNew) followMark(state, market, reached);
    if (sourceIsNew && source !== null)
      market.triggers.prices.take(source, waitsIn(state), reached);
    const before = market.seenSource ?? source ?? 0;
    for (const { id, ticks } of reached) {
      const slot = state.orders.slotOf(id);
      const conditional = state.orders.conditional(slot);
      const seen = state.orders.orderType(slot) === 'trailingStop' ? market.markTicks : source;
      if (conditional === null || seen === null) continue;
      conditional.armed = false;
      const takesProfit = state.orders.orderType(slot) === 'takeProfit';
      due.push({ id, market, takesProfit, distance: Math.abs(ticks - before), source: seen });
    }
    if (sourceIsNew) market.seenSource = source;
  }
}

/** After a mark recomputation: trailing stops activate, follow, or fire. */
function followMark(state: ExchangeState, market: Market, reached: Reached[]): void {
  const mark = market.markTicks;
  if (mark === null) return;
  const waits = waitsIn(state);
  const { activations, selling, buying } = market.triggers;
  const active: Reached[] = [];
  activations.take(mark, waits, active);
  for (const { id } of active) {
    const slot = state.orders.slotOf(id);
    const conditional = state.orders.conditional(slot);
    if (conditional !== null) follow(state, market, slot, conditional);
  }
  selling.reach(mark);
  buying.reach(mark);
  selling.take(mark, waits, reached);
  buying.take(mark, waits, reached);
}

/** Source of the market's triggers. */
function sourceOf(state: ExchangeState, market: Market): PriceTicks | null {
  switch (state.config.triggerSource) {
    case 'index':
      return market.indexTicks;
    case 'last':
      return market.lastTicks;
    default:
      return market.markTicks;
  }
}

/** Adds new triggers whose condition already holds and arms the others. */
function addNewDue(state: State, due: Due[]): void {
  const { context } = state;
  for (const id of context.newTriggers) {
    const slot = state.orders.slotOf(id);
    const conditional = slot === NONE ? null : state.orders.conditional(slot);
    if (conditional === null || conditional.armed || !state.orders.isWaiting(slot)) continue;
    const market = state.market(state.orders.market(slot));
    const trailing = conditional.trailingPpm !== null;
    const source = trailing ? market.markTicks : sourceOf(state, market);
    const reached = source !== null && !isFrozen(market) && holds(state, slot, conditional, source);
    if (!reached) arm(state, market, slot, conditional);
    else if (trailing) follow(state, market, slot, conditional);
    else {
      const takesProfit = state.orders.orderType(slot) === 'takeProfit';
      due.push({ id, market, takesProfit, distance: 0, source });
    }
  }
  context.newTriggers.length = 0;
}

function holds(
  state: ExchangeState,
  slot: number,
  conditional: Special,
  source: PriceTicks,
): boolean {
  if (conditional.triggerTicks === null) return true;
  return firesAt(state, slot) === 'above'
    ? source >= conditional.triggerTicks
    : source <= conditional.triggerTicks;
}
