/** An order goes to the book: it matches, then rests, becomes pending again, or ends. */
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { endOrder } from './end.ts';
import { fillableLots, legOver, waitAgain } from './protective-orders.ts';
import { matchOrder } from './match.ts';
import { ORDER_TYPE_RULES } from './order-types.ts';
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
  // The slot stays readable after removal: only the order's own fills end it while it matches.
  if (table.left(slot) === 0) endFilled(state, slot);
  else if (table.conditional(slot)?.leg === true) {
    keepLeg(state, slot, market, exposure, stop !== null);
  } else if (stop !== null) endOrder(state, slot, 'cancelled', stop);
  else if (!table.isIoc(slot)) {
    if (!rest(state, slot, market, exposure)) endOrder(state, slot, 'cancelled', 'openOrders');
  } else {
    endOrder(state, slot, ORDER_TYPE_RULES[table.orderType(slot)].unfilled, 'iocRemainder');
  }
}

/** Ends a filled order; for an iceberg the next slice follows. */
function endFilled(state: State, slot: number): void {
  const table = state.orders;
  const iceberg = table.orderType(slot) === 'iceberg' ? table.conditional(slot) : null;
  if (iceberg !== null) {
    state.context.pendingEffects.push({
      kind: 'nextSlice',
      after: table.id(slot),
      last: iceberg.groupLast,
    });
  }
  endOrder(state, slot, 'filled', null);
}

/** the rest of a partly filled leg rests if it may, otherwise it is pending again. */
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
  else {
    const waits = stopped || table.isIoc(slot) || fillableLots(table, slot, exposure) === 0;
    if (waits || !rest(state, slot, market, exposure)) waitAgain(state, slot, exposure);
  }
}
