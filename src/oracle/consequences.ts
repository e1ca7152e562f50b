/** Effects of ends and fills on other orders, after the command's own work. */
import { end } from './endings.ts';
import { release } from './execute.ts';
import { review } from './legs.ts';
import { pendingAfter } from './slices.ts';
import type { Todo, World } from './world.ts';

/** An effect may append more. */
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
    // The shown slice ended unfilled: ends all later slices.
    case 'sliceEnded':
      for (const other of pendingAfter(world, todo.slice)) {
        end(world, other, 'cancelled', 'parentCancelled');
      }
      return;
    // It was filled as a taker: the next one takes.
    case 'sliceTook': {
      const next = pendingAfter(world, todo.slice)[0];
      if (next !== undefined) release(world, next, 'iceberg', null);
    }
  }
}
