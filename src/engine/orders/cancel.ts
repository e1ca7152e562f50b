/** A user cancels one order, which the gateway has found and authorised. */
import { NONE } from '../book/order-table.ts';
import type { CancelOrder } from '../commands.ts';
import type { Outcome } from '../refusals.ts';
import type { State } from '../state.ts';
import { endOrder } from './end.ts';

export function cancelOrder(state: State, command: CancelOrder): Outcome {
  const slot = state.orders.slotOf(command.orderId);
  if (slot === NONE) return { code: 'order_not_found' };
  endOrder(state, slot, 'cancelled', 'user');
  return 'ok';
}
