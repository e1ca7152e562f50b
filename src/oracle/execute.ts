/** An order goes to the book, at once or when it has waited: it meets the other side, then rests, waits again, or ends. */
import type { Cause } from '../engine/events.ts';
import { activationFault } from './checks.ts';
import { end } from './endings.ts';
import { fillable, retire, waitAgain, whyOver } from './legs.ts';
import { match } from './matching.ts';
import { rest, sayReleased } from './resting.ts';
import { because, leftOf, type Order, type World } from './world.ts';

/** The order meets the other side of the book; then it rests, waits again, or ends. */
export function execute(world: World, order: Order): void {
  const stop = match(world, order);
  if (leftOf(order) === 0n) {
    if (order.type === 'iceberg') world.todo.push({ kind: 'sliceTook', slice: order });
    end(world, order, 'filled', null);
  } else if (order.leg) keepLeg(world, order, stop !== null);
  else if (stop !== null) end(world, order, 'cancelled', stop);
  else if (!order.ioc) rest(world, order);
  // What a TWAP slice does not fill in its time has expired (D-21).
  else end(world, order, order.type === 'twap' ? 'expired' : 'cancelled', 'iocRemainder');
}

/** what is left of a leg rests when it may, else it waits again. */
function keepLeg(world: World, leg: Order, stopped: boolean): void {
  if (whyOver(world, leg) !== null) retire(world, leg);
  else if (stopped || leg.ioc || fillable(world, leg) === 0n) waitAgain(world, leg);
  else rest(world, leg);
}

/** an order that waited becomes an ordinary one. */
export function release(world: World, order: Order, cause: Cause, source: bigint | null): void {
  because(world, cause, () => {
    sayReleased(world, order, source);
    const fault = activationFault(world, order);
    if (fault === null) execute(world, order);
    else if (fault === 'reduceOnly' && order.leg) retire(world, order);
    else end(world, order, 'cancelled', fault);
  });
}
