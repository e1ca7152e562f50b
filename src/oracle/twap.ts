/** TWAP slices, by time (R-3.3, D-21). */
import { release } from './execute.ts';
import { isLive, type World } from './world.ts';

/** Activates due slices, in sequence. */
export function startSlices(world: World): void {
  const due = world.live.filter(({ dueAt }) => dueAt !== null && dueAt <= world.now);
  due.sort((a, b) => Number((a.dueAt ?? 0n) - (b.dueAt ?? 0n)) || a.id - b.id);
  for (const order of due) {
    order.dueAt = null;
    if (isLive(order)) release(world, order, 'twap', null);
  }
}
