/** An order starts to rest, or stops being pending. */
import { putOnBook, queueAt, sizeOf } from './book.ts';
import { touch } from './endings.ts';
import { MOST_LOTS, sign, sum } from './numbers.ts';
import { leftOf, emit, marketOf, type Order, type World } from './world.ts';

/** Returns false if the price has no room for it (D-4). */
export function rest(world: World, order: Order): boolean {
  if (!hasRoom(world, order)) return false;
  putOnBook(world, order);
  emit(world, {
    kind: 'orderRested',
    orderId: order.id,
    subaccount: order.sub,
    market: order.market,
    priceTicks: order.price,
    remainingLots: sign(order.lots) * leftOf(order),
  });
  return true;
}

function hasRoom(world: World, order: Order): boolean {
  const queue = queueAt(world, marketOf(world, order.market), sign(order.lots), order.price);
  return sum(queue.map(sizeOf)) + leftOf(order) <= MOST_LOTS;
}

export function emitReleased(world: World, order: Order, source: bigint | null): void {
  order.armed = false;
  order.status = order.filled > 0n ? 'partiallyFilled' : 'new';
  touch(world, order);
  emit(world, {
    kind: 'orderReleased',
    orderId: order.id,
    subaccount: order.sub,
    market: order.market,
    triggerTicks: order.trigger,
    sourceTicks: source,
  });
}
