/**
 * Orders that wait (status `pending`): for a trigger, a time, their turn, or a parent's first fill (§3, §4). They hold no margin
 * but count in `maxOpenOrders`. A trigger waits in its market's index while it is armed.
 */
import type { Exposure } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import { hashOrderPending } from '../chain-hash/hash-event.ts';
import type { Market } from '../market/market.ts';
import type { OrderId } from '../../num/units.ts';
import type { State } from '../state.ts';
import type { Special } from './conditional.ts';
import type { Waits } from './reached.ts';

/** The order begins to wait, or waits again. */
export function wait(state: State, slot: number, exposure: Exposure): void {
  const table = state.orders;
  table.setWaiting(slot, true);
  table.setStatus(slot, 'pending', null);
  table.markBookChanged(slot, state.nowUs, state.seq);
  exposure.pendingOrders += 1;
  state.emit(hashOrderPending, {
    kind: 'orderPending',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
    orderId: table.id(slot),
    subaccount: table.subaccount(slot),
    market: table.market(slot),
  });
}

/** The order waits no more: it is released, or it ends. */
export function stopWaiting(state: State, slot: number, exposure: Exposure): void {
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

/** A live order that waits in an index. */
export function waitsIn(state: State): Waits {
  return (id: OrderId) => {
    const slot = state.orders.slotOf(id);
    if (slot === NONE || !state.orders.isWaiting(slot)) return false;
    return state.orders.conditional(slot)?.armed === true;
  };
}

/**
 * On which side of its trigger price an order fires. A trailing stop with a trigger price becomes active there, on the
 * side of a profit.
 */
export function firesAt(state: State, slot: number): 'above' | 'below' {
  const sells = state.orders.side(slot) < 0;
  const onProfit = state.orders.orderType(slot) !== 'stopLoss';
  return sells === onProfit ? 'above' : 'below';
}

/** Puts a waiting trigger where the source can find it. A trailing stop without a trigger price follows the mark at once. */
export function arm(state: State, market: Market, slot: number, conditional: Special): void {
  conditional.armed = true;
  if (conditional.triggerTicks === null || conditional.following) {
    follow(state, market, slot, conditional);
    return;
  }
  const { prices, activations } = market.triggers;
  const index = conditional.trailingPpm === null ? prices : activations;
  index.add(firesAt(state, slot), conditional.triggerTicks, state.orders.id(slot));
}

/** A trailing stop is active from this mark on. */
export function follow(state: State, market: Market, slot: number, conditional: Special): void {
  conditional.armed = true;
  conditional.following = true;
  const { selling, buying } = market.triggers;
  const index = state.orders.side(slot) < 0 ? selling : buying;
  index.add(state.orders.id(slot), conditional.trailingPpm ?? 0, market.markTicks ?? 0);
}
