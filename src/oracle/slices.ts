/** Iceberg slices, in sequence (R-3.4, D-22). */
import { activationFault } from './checks.ts';
import { end } from './endings.ts';
import { rest, emitReleased } from './resting.ts';
import { because, type Order, type World } from './world.ts';

/** Pending slices of the same batch, in sequence. */
export const pendingAfter = (world: World, order: Order): Order[] =>
  order.group === null
    ? []
    : world.live.filter(
        ({ group, status, id }) => group === order.group && status === 'pending' && id > order.id,
      );

/** After the shown slice was filled while resting, the next joins the queue's back. */
export function restNextSlice(world: World, filled: Order): void {
  const next = pendingAfter(world, filled)[0];
  if (next === undefined) return;
  because(world, 'iceberg', () => {
    emitReleased(world, next, null);
  });
  const fault = activationFault(world, next);
  if (fault !== null) end(world, next, 'cancelled', fault);
  else if (!rest(world, next)) end(world, next, 'cancelled', 'openOrders');
}
