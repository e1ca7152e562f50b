/** Iceberg slices, in sequence (R-3.4, D-22). */
import { activationFault } from './checks.ts';
import { end } from './endings.ts';
import { rest, sayReleased } from './resting.ts';
import { because, type Order, type World } from './world.ts';

/** Pending slices of the same batch, in sequence. */
export const pendingAfter = (world: World, order: Order): Order[] =>
  order.group === null
    ? []
    : world.live.filter(
        ({ group, status, id }) => group === order.group && status === 'pending' && id > order.id,
      );

/**
 * The shown slice was filled while resting: the next joins the back of the queue, within the same
 * sweep.
 */
export function restNextSlice(world: World, filled: Order): void {
  const next = pendingAfter(world, filled)[0];
  if (next === undefined) return;
  because(world, 'iceberg', () => {
    sayReleased(world, next, null);
  });
  const fault = activationFault(world, next);
  if (fault === null) rest(world, next);
  else end(world, next, 'cancelled', fault);
}
