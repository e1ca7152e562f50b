/** Effects of a closed position on reduce-only orders. */
import { hasTurned } from '../accounts/positions.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { State } from '../state.ts';
import { endOrder } from './end.ts';
import { legOver, reducibleLots, retireLeg } from './protective-orders.ts';

/** Ends reduce-only orders and legs of a closed position, not the taker. */
export function closeReduceOnly(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  positionBefore: number,
  matching: number,
): void {
  if (exposure.reduceOnlyOrders === 0 && exposure.legs === 0) return;
  if (!hasTurned(positionBefore, exposure.positionLots)) return;
  const table = state.orders;
  for (let slot = subaccount.orders.head; slot !== NONE;) {
    const next = table.nextOfOwner(slot);
    if (
      slot !== matching &&
      table.market(slot) === exposure.market &&
      table.isReduceOnly(slot) &&
      reducibleLots(exposure, table.side(slot)) === 0
    ) {
      if (table.conditional(slot)?.leg !== true) {
        const reason = state.context.cause === 'adl' ? 'adl' : 'reduceOnly';
        if (table.isResting(slot)) endOrder(state, slot, 'cancelled', reason);
      } else if (table.isResting(slot)) retireLeg(state, slot, exposure);
      else if (legOver(table, slot, exposure) !== null) {
        endOrder(state, slot, 'cancelled', 'positionClosed');
      }
    }
    slot = next;
  }
}
