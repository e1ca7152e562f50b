/**
 * Expiry: an order lives while now ≤ expiresAt; its timer is at expiresAt × 1000 + 1 µs. An expiresAt
 * whose microseconds pass 2^53 never comes.
 */
import { doubleOf } from '../../num/arithmetic.ts';
import type { TimeUs } from '../../num/units.ts';
import type { OrderId } from '../../num/units.ts';
import type { State } from '../state.ts';
import { NONE } from '../book/order-table.ts';

const LAST_EXPIRY_MS = 9_007_199_254_740;

/** Whether a request with this expiresAt may no longer be processed. */
export function isExpired(nowUs: TimeUs, expiresAtMs: bigint): boolean {
  const ms = doubleOf(expiresAtMs);
  return ms <= LAST_EXPIRY_MS && nowUs > ms * 1000;
}

/** Sets the timer of a live order, when it can expire. */
export function watchExpiry(state: State, slot: number, expiresAtMs: bigint): void {
  const ms = doubleOf(expiresAtMs);
  if (ms > LAST_EXPIRY_MS) return;
  state.orders.setTimer(slot);
  state.expiring += 1;
  const heap = state.expiries;
  // The first instant at which the order is over.
  heap.push(ms * 1000 + 1, state.orders.id(slot));
  if (heap.size > 1024 && heap.size > 4 * state.expiring) {
    heap.compact((key) => state.orders.slotOf(key as OrderId) !== NONE);
  }
}

/** Earliest expiry of a live order; drops timers of orders that ended before. */
export function nextExpiryUs(state: State): number {
  const heap = state.expiries;
  while (heap.size > 0 && state.orders.slotOf(heap.topKey() as OrderId) === NONE) heap.pop();
  return heap.topTime();
}
