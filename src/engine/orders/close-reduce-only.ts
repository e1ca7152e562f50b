/** Effects of a closed position on reduce-only orders. */
import { hasTurned } from '../accounts/positions.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import type { State } from '../state.ts';
import { endOrder } from './end.ts';
import { legOver, reducibleLots, retireLeg } from './protective-orders.ts';

/** Ends reduce-only orders and legs of a closed position, not the taker. */
export function closeReduceOnly(
  state: State,
  exposure: Exposure,
  positionBefore: number,
  matching: number,
): void {
  const { closing } = exposure;
  if (closing === null || closing.size === 0) return;
  if (!hasTurned(positionBefore, exposure.positionLots)) return;
  const table = state.orders;
  for (const id of closing) {
    const slot = table.slotOf(id);
    if (slot === matching || reducibleLots(exposure, table.side(slot)) !== 0) continue;
    if (table.conditional(slot)?.leg !== true) {
      const reason = state.context.cause === 'adl' ? 'adl' : 'reduceOnly';
      if (table.isResting(slot)) endOrder(state, slot, 'cancelled', reason);
    } else if (table.isResting(slot)) retireLeg(state, slot, exposure);
    else if (legOver(table, slot, exposure) !== null) {
      endOrder(state, slot, 'cancelled', 'positionClosed');
    }
  }
}
