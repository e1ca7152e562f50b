/**
 * Pending orders (status `pending`): they wait for a trigger, a time, their predecessor, or a
 * parent's first fill (§3, §4). They require no margin but count in `maxOpenOrders`. An armed
 * trigger is in its market's index.
 */
import type { Exposure } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import { hashOrderPending } from '../chain-hash/hash-event.ts';
import type { Market } from '../market/market.ts';
import type { OrderId } from '../../num/units.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import type { Special } from './conditional.ts';
import { ORDER_TYPE_RULES } from './order-types.ts';
import type { Waits } from './reached.ts';

/** Makes the order pending, for the first time or again. */
export function wait(state: State, slot: number, exposure: Exposure): void {
  const table = state.orders;
  table.setWaiting(slot, true);
  table.setStatus(slot, 'pending', null);
  table.markBookChanged(slot, state);
  exposure.pendingOrders += 1;
  const { context } = state;
  context.emit(hashOrderPending, {
    kind: 'orderPending',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    orderId: table.id(slot),
    subaccount: table.subaccount(slot),
    market: table.market(slot),
  });
}

/** Ends the pending state: the order is activated or ends. */
export function stopWaiting(state: ExchangeState, slot: number, exposure: Exposure): void {
  state.orders.setWaiting(slot, false);
  exposure.pendingOrders -= 1;
  const conditional = state.orders.conditional(slot);
  if (conditional?.armed !== true) return;
  conditional.armed = false;
  const { triggers } = state.market(state.orders.market(slot));
  const waits = waitsIn(state);
  if (!conditional.following) {
    (conditional.trailingPpm === null ? triggers.prices : triggers.activations).forget(waits);
  } else (state.orders.side(slot) < 0 ? triggers.selling : triggers.buying).forget(waits);
}

/** Predicate: a live order that is in an index. */
export function waitsIn(state: ExchangeState): Waits {
  return (id: OrderId) => {
    const slot = state.orders.slotOf(id);
    if (slot === NONE || !state.orders.isWaiting(slot)) return false;
    return state.orders.conditional(slot)?.armed === true;
  };
}

/** Side of its trigger price on which an order fires or activates. */
export function firesAt(state: ExchangeState, slot: number): 'above' | 'below' {
  const sells = state.orders.side(slot) < 0;
  const onGain = ORDER_TYPE_RULES[state.orders.orderType(slot)].firesOn === 'gain';
  return sells === onGain ? 'above' : 'below';
}

/** Arms a pending trigger. A trailing stop without a trigger price follows the mark at once. */
export function arm(
  state: ExchangeState,
  market: Market,
  slot: number,
  conditional: Special,
): void {
  conditional.armed = true;
  if (conditional.triggerTicks === null || conditional.following) {
    follow(state, market, slot, conditional);
    return;
  }
  const { prices, activations } = market.triggers;
  const index = conditional.trailingPpm === null ? prices : activations;
  index.add(firesAt(state, slot), conditional.triggerTicks, state.orders.id(slot));
}

/** Activates a trailing stop at this mark. */
export function follow(
  state: ExchangeState,
  market: Market,
  slot: number,
  conditional: Special,
): void {
  conditional.armed = true;
  conditional.following = true;
  const { selling, buying } = market.triggers;
  const index = state.orders.side(slot) < 0 ? selling : buying;
  index.add(state.orders.id(slot), conditional.trailingPpm ?? 0, market.markTicks ?? 0);
}
