/** Iceberg slices: consecutive ids, one price; one is shown, later ones are pending. */
import { orderId, type OrderId } from '../../num/units.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import { hashOrderReleased } from '../chain-hash/hash-event.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { restingFault } from './admission.ts';
import { endOrder } from './end.ts';
import { rest } from './resting.ts';
import { stopWaiting } from './pending.ts';

/** Slot of the next pending slice, or NONE. */
export function nextSlice(state: ExchangeState, after: OrderId, last: OrderId): number {
  for (let id = after + 1; id <= last; id++) {
    const slot = state.orders.slotOf(orderId(id));
    if (slot !== NONE && state.orders.isWaiting(slot)) return slot;
  }
  return NONE;
}

/** After a resting slice was filled, the next joins the back of its queue in the same sweep. */
export function restNextSlice(
  state: State,
  market: Market,
  exposure: Exposure,
  after: OrderId,
  last: OrderId,
): void {
  const slot = nextSlice(state, after, last);
  if (slot === NONE) return;
  showSlice(state, slot, exposure);
  const fault = restingFault(state, slot, market, exposure);
  if (fault !== null) endOrder(state, slot, 'cancelled', fault);
  else if (!rest(state, slot, market, exposure)) endOrder(state, slot, 'cancelled', 'openOrders');
}

/** Activates the slice. */
export function showSlice(state: State, slot: number, exposure: Exposure): void {
  const { context } = state;
  const cause = context.cause;
  context.cause = 'iceberg';
  stopWaiting(state, slot, exposure);
  state.orders.setStatus(slot, 'new', null);
  state.orders.markBookChanged(slot, state);
  announceRelease(state, slot, null);
  context.cause = cause;
}

export function announceRelease(
  state: State,
  slot: number,
  sourceTicks: ReturnType<State['orders']['price']> | null,
): void {
  const table = state.orders;
  const { context } = state;
  context.emit(hashOrderReleased, {
    kind: 'orderReleased',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    orderId: table.id(slot),
    subaccount: table.subaccount(slot),
    market: table.market(slot),
    triggerTicks: table.conditional(slot)?.triggerTicks ?? null,
    sourceTicks,
  });
}

/** The shown slice ended unfilled: ends all later slices. */
export function endSlices(state: State, after: OrderId, last: OrderId): void {
  for (
    let slot = nextSlice(state, after, last);
    slot !== NONE;
    slot = nextSlice(state, after, last)
  ) {
    endOrder(state, slot, 'cancelled', 'parentCancelled');
  }
}
