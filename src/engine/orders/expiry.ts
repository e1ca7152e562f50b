/**
 * Expiry: an order lives while now ≤ expiresAt; its timer is at expiresAt × 1000 + 1 µs. An expiresAt
 * whose microseconds pass 2^53 never comes.
 */
import { timeUs, type TimeUs } from '../../num/units.ts';
import type { OrderId } from '../../num/units.ts';
import type { State } from '../state.ts';
import { NONE } from '../book/order-table.ts';

const LAST_EXPIRY_MS = 9_007_199_254_740n;

function neverExpires(expiresAtMs: bigint): boolean {
  return expiresAtMs > LAST_EXPIRY_MS;
}

/** Whether a request with this expiresAt may no longer be processed. */
export function isExpired(nowUs: TimeUs, expiresAtMs: bigint): boolean {
  return !neverExpires(expiresAtMs) && nowUs > Number(expiresAtMs) * 1000;
}

/** The first instant at which the order is over. */
function expiryUs(expiresAtMs: bigint): TimeUs {
  return timeUs(Number(expiresAtMs) * 1000 + 1);
}

/** Sets the timer of a live order, when it can expire. */
export function watchExpiry(state: State, slot: number, expiresAtMs: bigint): void {
  if (neverExpires(expiresAtMs)) return;
  state.orders.setTimer(slot);
  state.expiring += 1;
  const heap = state.expiries;
  heap.push(expiryUs(expiresAtMs), state.orders.id(slot));
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
