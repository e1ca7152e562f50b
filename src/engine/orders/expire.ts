/** Expiry of orders by timer, in order of id at one instant. */
import type { OrderId } from '../../num/units.ts';
import type { State } from '../state.ts';
import { endOrder } from './end.ts';
import { nextExpiryUs } from './expiry.ts';

/** Ends every order whose timer is due now, in order of id. */
export function expireDue(state: State): void {
  while (nextExpiryUs(state) <= state.nowUs) {
    const slot = state.orders.slotOf(state.expiries.topKey() as OrderId);
    state.expiries.pop();
    endOrder(state, slot, 'expired', 'expired');
  }
}
