/** TWAP slices: slice i is activated at t0 + i × period; no catch-up. */
import { timeUs, type OrderId } from '../../num/units.ts';
import { NONE } from '../book/order-table.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { activate } from './activate.ts';

/**
 * The time of a slice, or Infinity beyond the range of times: then its expiry comes first.
 */
export function sliceDueUs(startUs: number, periodMs: bigint, slice: number): number {
  const due = BigInt(startUs) + periodMs * 1000n * BigInt(slice);
  return due > BigInt(Number.MAX_SAFE_INTEGER) ? Infinity : Number(due);
}

export function watchSlice(state: ExchangeState, slot: number, dueUs: number): void {
  if (dueUs !== Infinity) state.slices.push(timeUs(dueUs), state.orders.id(slot));
}

/** Earliest time of a pending slice; drops stale entries. */
export function nextSliceUs(state: ExchangeState): number {
  const heap = state.slices;
  while (heap.size > 0 && state.orders.slotOf(heap.topKey() as OrderId) === NONE) heap.pop();
  return heap.topTime();
}

/** Activates every slice due now, in order of id. */
export function activateDueSlices(state: State): void {
  while (nextSliceUs(state) <= state.nowUs) {
    const slot = state.orders.slotOf(state.slices.topKey() as OrderId);
    state.slices.pop();
    if (state.orders.isWaiting(slot)) activate(state, slot, 'twap', null);
  }
}
