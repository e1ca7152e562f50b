/** An order goes to the book, at once or at activation. */
import type { Cause } from '../engine/events.ts';
import { activationFault } from './checks.ts';
import { end } from './endings.ts';
import { fillable, retire, waitAgain, whyOver } from './legs.ts';
import { match } from './matching.ts';
import { TYPES } from './order-types.ts';
import { rest, emitReleased } from './resting.ts';
import { because, leftOf, type Order, type World } from './world.ts';

/** Matches the order; then it rests, becomes pending again, or ends. */
export function execute(world: World, order: Order): void {
  const stop = match(world, order);
  if (leftOf(order) === 0n) {
    if (order.type === 'iceberg') world.todo.push({ kind: 'sliceTook', slice: order });
    end(world, order, 'filled', null);
  } else if (order.leg) keepLeg(world, order, stop !== null);
  else if (stop !== null) end(world, order, 'cancelled', stop);
  else if (!order.ioc) {
    if (!rest(world, order)) end(world, order, 'cancelled', 'openOrders');
  } else end(world, order, TYPES[order.type].leaves ?? 'cancelled', 'iocRemainder');
}

/** the rest of a leg rests if it may, otherwise it becomes pending again. */
function keepLeg(world: World, leg: Order, stopped: boolean): void {
  if (whyOver(world, leg) !== null) retire(world, leg);
  else if (stopped || leg.ioc || fillable(world, leg) === 0n) waitAgain(world, leg);
  else if (!rest(world, leg)) waitAgain(world, leg);
}

/** activates a pending order. */
export function release(world: World, order: Order, cause: Cause, source: bigint | null): void {
  because(world, cause, () => {
    emitReleased(world, order, source);
    const fault = activationFault(world, order);
    if (fault === null) execute(world, order);
    else if (fault === 'reduceOnly' && order.leg) retire(world, order);
    else end(world, order, 'cancelled', fault);
  });
}
