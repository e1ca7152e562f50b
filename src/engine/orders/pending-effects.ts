/** Applies queued effects on other orders: legs of ended parents, siblings, slices. */
import { NONE } from '../book/order-table.ts';
import type { OrderId } from '../../num/units.ts';
import type { State } from '../state.ts';
import { endOrder } from './end.ts';
import { fillableLots, legOver, retireLeg } from './protective-orders.ts';
import { activate } from './activate.ts';
import { endSlices, nextSlice } from './slices.ts';

export function settleFollowUps(state: State): void {
  const { pendingEffects } = state.context;
  // An effect may append more.
  for (let i = 0; i < pendingEffects.length; i++) {
    const todo = pendingEffects[i];
    switch (todo?.kind) {
      case 'parent':
        for (const id of todo.legs) parentEnded(state, id);
        break;
      case 'leg':
        reviewLeg(state, todo.orderId);
        break;
      case 'slices':
        endSlices(state, todo.after, todo.last);
        break;
      case 'nextSlice': {
        const slot = nextSlice(state, todo.after, todo.last);
        if (slot !== NONE) activate(state, slot, 'iceberg', null);
        break;
      }
      default:
    }
  }
  pendingEffects.length = 0;
}

function parentEnded(state: State, id: OrderId): void {
  const slot = state.orders.slotOf(id);
  const leg = slot === NONE ? null : state.orders.conditional(slot);
  if (leg === null) return;
  leg.parentLive = false;
  reviewLeg(state, id);
}

/** Ends a leg that has nothing left to protect; takes one that cannot fill now off the book. */
function reviewLeg(state: State, id: OrderId): void {
  const table = state.orders;
  const slot = table.slotOf(id);
  if (slot === NONE) return;
  const exposure = state.subaccount(table.subaccount(slot)).exposure(table.market(slot));
  const over = legOver(table, slot, exposure);
  if (over !== null) endOrder(state, slot, 'cancelled', over);
  else if (table.isResting(slot) && fillableLots(table, slot, exposure) === 0) {
    retireLeg(state, slot, exposure);
  }
}
