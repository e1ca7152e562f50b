/** A user cancels every order of a subaccount, or those of one market, in ascending order id. */
import type { CancelAll } from '../commands.ts';
import type { Outcome } from '../refusals.ts';
import type { State } from '../state.ts';
import { endOrder } from './end.ts';
import { ownedOrders } from './owned-orders.ts';

export function cancelAll(state: State, command: CancelAll): Outcome {
  if (command.market !== null && state.markets[command.market] === undefined) {
    return { code: 'market_not_found' };
  }
  const subaccount = state.accounts.subaccounts[command.subaccount];
  if (subaccount?.role !== 'user') return { code: 'subaccount_not_found' };
  for (const slot of ownedOrders(state, subaccount, command.market)) {
    endOrder(state, slot, 'cancelled', 'user');
  }
  return 'ok';
}
