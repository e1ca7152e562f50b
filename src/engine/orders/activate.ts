/** A pending order is activated: checked again, then matched. */
import type { PriceTicks } from '../../num/units.ts';
import type { Cause } from '../events.ts';
import type { State } from '../state.ts';
import { activationFault } from './admission.ts';
import { endOrder } from './end.ts';
import { execute } from './execute.ts';
import { legOver, waitAgain } from './protective-orders.ts';
import { announceRelease } from './slices.ts';
import { stopWaiting } from './pending.ts';

/** `sourceTicks`: the price that fired the trigger; null for slices. */
export function activate(
  state: State,
  slot: number,
  cause: Cause,
  sourceTicks: PriceTicks | null,
): void {
  const table = state.orders;
  const market = state.market(table.market(slot));
  const subaccount = state.subaccount(table.subaccount(slot));
  const exposure = subaccount.exposure(market.id);
  const { context } = state;
  const outer = context.cause;
  context.cause = cause;
  stopWaiting(state, slot, exposure);
  table.setStatus(
    slot,
    table.left(slot) < Math.abs(table.lots(slot)) ? 'partiallyFilled' : 'new',
    null,
  );
  table.markBookChanged(slot, state);
  announceRelease(state, slot, sourceTicks);
  const fault = activationFault(state, slot, subaccount, exposure, market);
  if (fault === null) execute(state, slot, market, subaccount, exposure);
  else if (fault === 'reduceOnly' && table.conditional(slot)?.leg === true) {
    const over = legOver(table, slot, exposure);
    if (over === null) waitAgain(state, slot, exposure);
    else endOrder(state, slot, 'cancelled', over);
  } else endOrder(state, slot, 'cancelled', fault);
  context.cause = outer;
}
