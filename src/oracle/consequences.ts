/** What ends and fills left to be done for other orders, once the command's own work is done. */
import { end } from './endings.ts';
import { release } from './execute.ts';
import { review } from './legs.ts';
import { pendingAfter } from './slices.ts';
import type { Todo, World } from './world.ts';

/** Doing one may add more, at the end. */
export function settleConsequences(world: World): void {
  for (let todo = world.todo.shift(); todo !== undefined; todo = world.todo.shift()) {
    dispatch(world, todo);
  }
}

function dispatch(world: World, todo: Todo): void {
  switch (todo.kind) {
    case 'leg':
      review(world, todo.leg);
      return;
    case 'parentEnded':
      for (const leg of todo.legs) {
        leg.parentLive = false;
        review(world, leg);
      }
      return;
    // The shown slice ended without being filled: so do those after it.
    case 'sliceEnded':
      for (const other of pendingAfter(world, todo.slice)) {
        end(world, other, 'cancelled', 'parentCancelled');
      }
      return;
    // It was filled while it took: the next one takes.
    case 'sliceTook': {
      const next = pendingAfter(world, todo.slice)[0];
      if (next !== undefined) release(world, next, 'iceberg', null);
    }
  }
}
