/** Expiry: at expiresAt × 1000 + 1 µs; never beyond 2^53 µs. */
import { doubleOf } from '../../num/arithmetic.ts';
import type { OrderId } from '../../num/units.ts';
import type { Clock } from '../clock.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { NONE } from '../book/order-table.ts';

const LAST_EXPIRY_MS = 9_007_199_254_740;

/** Whether a request with this expiresAt has expired. */
export function isExpired({ nowUs }: Clock, expiresAtMs: bigint): boolean {
  return nowUs > doubleOf(expiresAtMs) * 1000;
}

/** Sets the expiry timer of a live order, if it can expire. */
export function watchExpiry(state: ExchangeState, slot: number, expiresAtMs: bigint): void {
  const ms = doubleOf(expiresAtMs);
  if (ms > LAST_EXPIRY_MS) return;
  state.orders.setTimer(slot);
  state.expiring += 1;
  const heap = state.expiries;
  // The first microsecond after expiry.
  heap.push(ms * 1000 + 1, state.orders.id(slot));
  if (heap.size > 1024 && heap.size > 4 * state.expiring) {
    heap.compact((key) => state.orders.slotOf(key as OrderId) !== NONE);
  }
}

/** Earliest expiry of a live order; drops stale timers. */
export function nextExpiryUs(state: ExchangeState): number {
  const heap = state.expiries;
  while (heap.size > 0 && state.orders.slotOf(heap.topKey() as OrderId) === NONE) heap.pop();
  return heap.topTime();
}
