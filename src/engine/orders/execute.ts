/** An order goes to the book: it meets the other side, then rests, waits again, or ends. */
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { endOrder } from './end.ts';
import { fillableLots, legOver, waitAgain } from './protective-orders.ts';
import { matchOrder } from './match.ts';
import { rest } from './resting.ts';

export function execute(
  state: State,
  slot: number,
  market: Market,
  subaccount: Subaccount,
  exposure: Exposure,
): void {
  const table = state.orders;
  const stop = matchOrder(state, market, slot, subaccount, exposure);
  // The order may have left the table: nothing but its own fills ends it while it matches, and they leave it here.
  if (table.left(slot) === 0) endFilled(state, slot);
  else if (table.conditional(slot)?.leg === true) {
    keepLeg(state, slot, market, exposure, stop !== null);
  } else if (stop !== null) endOrder(state, slot, 'cancelled', stop);
  else if (!table.isIoc(slot)) rest(state, slot, market, exposure);
  else {
    // What a TWAP slice does not fill in its time has expired.
    const status = table.orderType(slot) === 'twap' ? 'expired' : 'cancelled';
    endOrder(state, slot, status, 'iocRemainder');
  }
}

/** Of an iceberg the next slice follows. */
function endFilled(state: State, slot: number): void {
  const table = state.orders;
  const iceberg = table.orderType(slot) === 'iceberg' ? table.conditional(slot) : null;
  if (iceberg !== null) {
    state.pendingEffects.push({ kind: 'nextSlice', after: table.id(slot), last: iceberg.groupLast });
  }
  endOrder(state, slot, 'filled', null);
}

/** Protection is never lost to a partial fill: what is left of a leg rests when it may, else it waits again. */
function keepLeg(
  state: State,
  slot: number,
  market: Market,
  exposure: Exposure,
  stopped: boolean,
): void {
  const table = state.orders;
  const over = legOver(table, slot, exposure);
  if (over !== null) endOrder(state, slot, 'cancelled', over);
  else if (stopped || table.isIoc(slot) || fillableLots(table, slot, exposure) === 0) {
    waitAgain(state, slot, exposure);
  } else rest(state, slot, market, exposure);
}
