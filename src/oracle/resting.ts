/** An order starts to rest, or stops being pending. */
import { putOnBook } from './book.ts';
import { touch } from './endings.ts';
import { sign } from './numbers.ts';
import { leftOf, emit, type Order, type World } from './world.ts';

export function rest(world: World, order: Order): void {
  putOnBook(world, order);
  emit(world, {
    kind: 'orderRested',
    orderId: order.id,
    subaccount: order.sub,
    market: order.market,
    priceTicks: order.price,
    remainingLots: sign(order.lots) * leftOf(order),
  });
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
