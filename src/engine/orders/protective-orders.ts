/**
 * Protective orders ("legs"): take-profit and stop-loss. A leg is reduce-only and
 * protects a position or the fills of its parent. The two legs of a pair share one cover, so a fill
 * of either shrinks the other. A leg ends once nothing is left to protect; while its parent may
 * still fill, it becomes pending again instead.
 */
import type { Exposure } from '../accounts/subaccount.ts';
import { NONE, type OrderTable } from '../book/order-table.ts';
import type { EndReason } from '../refusals.ts';
import type { State } from '../state.ts';
import { endOrder } from './end.ts';
import { leaveBook } from './resting.ts';
import type { Special } from './conditional.ts';
import { arm, wait } from './pending.ts';

/** Lots by which a reduce-only order of this side may still reduce the position. */
export function reducibleLots(exposure: Exposure, side: 1 | -1): number {
  const against = -side * exposure.positionLots;
  return against > 0 ? against : 0;
}

/** Lots that a leg still covers, at most its unfilled size. */
export function coverOf(table: OrderTable, slot: number, leg: Special): number {
  const size = Math.abs(table.lots(slot));
  const left = table.left(slot);
  const protects = leg.parent === null ? size : Math.min(size, leg.parentSettled);
  return Math.max(0, Math.min(left, protects - (size - left) - leg.siblingFilled));
}

/**
 * Lots that a reduce-only order may fill now: limited by the position and, for a leg, by its cover.
 */
export function fillableLots(table: OrderTable, slot: number, exposure: Exposure): number {
  const reducible = reducibleLots(exposure, table.side(slot));
  const conditional = table.conditional(slot);
  return conditional?.leg === true
    ? Math.min(reducible, coverOf(table, slot, conditional))
    : reducible;
}

/** Reason to end a leg with size left; null while it may still be needed. */
export function legOver(table: OrderTable, slot: number, exposure: Exposure): EndReason | null {
  const leg = table.conditional(slot);
  if (leg?.leg !== true || leg.parentLive) return null;
  if (coverOf(table, slot, leg) === 0) {
    return leg.siblingFilled > 0 ? 'ocoSibling' : 'parentCancelled';
  }
  return reducibleLots(exposure, table.side(slot)) === 0 ? 'positionClosed' : null;
}

/** Takes a resting leg that cannot fill now off the book: it ends, or becomes pending again. */
export function retireLeg(state: State, slot: number, exposure: Exposure): void {
  const reason = legOver(state.orders, slot, exposure);
  if (reason !== null) {
    endOrder(state, slot, 'cancelled', reason);
    return;
  }
  leaveBook(state, slot, exposure);
  waitAgain(state, slot, exposure);
}

/** Makes a leg pending again, armed while it covers something. */
export function waitAgain(state: State, slot: number, exposure: Exposure): void {
  const leg = state.orders.conditional(slot);
  wait(state, slot, exposure);
  if (leg !== null && coverOf(state.orders, slot, leg) > 0) {
    arm(state, state.market(exposure.market), slot, leg);
  }
}

/**
 * Updates related orders after a fill of `size` lots: a parent's legs cover more, a leg's sibling
 * less. Ended legs are handled after the command's own work.
 */
export function noteRelatives(
  state: State,
  filled: number,
  conditional: Special,
  size: number,
): void {
  const table = state.orders;
  const { context } = state;
  for (const id of conditional.legs) {
    const slot = table.slotOf(id);
    const leg = slot === NONE ? null : table.conditional(slot);
    if (leg === null) continue;
    leg.parentSettled += size;
    if (table.isWaiting(slot) && !leg.armed && !context.firing.has(id)) {
      arm(state, state.market(table.market(slot)), slot, leg);
    }
  }
  if (!conditional.leg) return;
  context.pendingEffects.push({ kind: 'leg', orderId: table.id(filled) });
  if (conditional.sibling === null) return;
  const slot = table.slotOf(conditional.sibling.orderId);
  const sibling = slot === NONE ? null : table.conditional(slot);
  if (sibling === null) return;
  sibling.siblingFilled += size;
  context.pendingEffects.push({ kind: 'leg', orderId: conditional.sibling.orderId });
}
