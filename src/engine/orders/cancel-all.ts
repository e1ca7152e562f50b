/** A user cancels every order of a subaccount, or those of one market, in ascending order id. */
import { NONE } from '../book/order-table.ts';
import type { CancelAll } from '../commands.ts';
import type { Outcome } from '../refusals.ts';
import type { State } from '../state.ts';
import { endOrder } from './end.ts';

export function cancelAll(state: State, command: CancelAll): Outcome {
  if (command.market !== null && state.markets[command.market] === undefined) {
    return 'market_not_found';
  }
  const subaccount = state.accounts.subaccounts[command.subaccount];
  if (subaccount?.role !== 'user') return 'subaccount_not_found';
  const table = state.orders;
  for (let slot = subaccount.orders.head; slot !== NONE;) {
    const next = table.nextOfOwner(slot);
    if (command.market === null || table.market(slot) === command.market) {
      endOrder(state, slot, 'cancelled', 'user');
    }
    slot = next;
  }
  return 'ok';
}
