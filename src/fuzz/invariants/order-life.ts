import type { EngineEvent } from '../../engine/events.ts';
import type { Engine } from '../../engine/read/views.ts';
import { StreamInvariant } from './stream-invariant.ts';

interface Lifecycle {
  readonly lots: number;
  readonly limitTicks: number;
  readonly reduceOnly: boolean;
  settled: number;
}

/** Order life cycle: one start, one end, filled + remaining = quantity, at the limit or better. */
export class OrderLifecycle extends StreamInvariant {
  readonly name = 'orderLife';
  readonly rule = 'R-2.5, R-2.8, R-2.9';
  readonly says =
    'an order is accepted once, fills within its limit, ends once, and settled + remaining = quantity';
  private readonly live = new Map<number, Lifecycle>();
  private highest = 0;

  see(event: EngineEvent): void {
    switch (event.kind) {
      case 'orderAccepted':
        this.begin(event);
        break;
      case 'orderRejected':
        this.highest = Math.max(this.highest, event.orderId);
        if (this.live.has(event.orderId))
          this.fail(`order ${event.orderId} rejected while it is live`);
        break;
      case 'orderFilled':
        this.fill(event);
        break;
      case 'orderRested': {
        const life = this.lifeOf(event.orderId, 'rested');
        if (life !== null && event.remainingLots !== life.lots - life.settled) {
          this.fail(`order ${event.orderId} rests with ${event.remainingLots} of ${life.lots}`);
        }
        break;
      }
      case 'orderPending':
      case 'orderReleased':
        this.lifeOf(event.orderId, event.kind);
        break;
      case 'orderEnded':
        this.end(event);
        break;
      default:
    }
  }

  /** Compares live orders with the exchange. */
  override compare(engine: Engine): void {
    for (const [id, life] of this.live) {
      const view = engine.order(id as never);
      if (view === undefined || view.settledLots !== life.settled || view.lots !== life.lots) {
        this.fail(
          `order ${id}: ${view?.settledLots ?? 'nothing'} settled, events say ${life.settled}`,
        );
      }
    }
  }

  private begin(event: Extract<EngineEvent, { kind: 'orderAccepted' }>): void {
    const { orderId, lots, priceTicks, reduceOnly } = event;
    if (this.live.has(orderId)) this.fail(`order ${orderId} accepted twice`);
    this.highest = Math.max(this.highest, orderId);
    this.live.set(orderId, { lots, limitTicks: priceTicks, reduceOnly, settled: 0 });
  }

  private fill(event: Extract<EngineEvent, { kind: 'orderFilled' }>): void {
    const life = this.lifeOf(event.orderId, 'filled');
    if (life === null) return;
    const { lots, remainingLots, priceTicks, role } = event;
    const side = life.lots > 0 ? 1 : -1;
    life.settled += lots;
    if (lots * side <= 0 || (life.lots - life.settled) * side < 0) {
      this.fail(`order ${event.orderId}: fill of ${lots}, ${life.settled} settled of ${life.lots}`);
    }
    if (remainingLots !== life.lots - life.settled) {
      this.fail(`order ${event.orderId}: ${life.settled} + ${remainingLots} ≠ ${life.lots}`);
    }
    const beyond =
      role === 'maker' ? priceTicks !== life.limitTicks : side * (priceTicks - life.limitTicks) > 0;
    if (beyond) {
      this.fail(
        `order ${event.orderId}: ${role} filled at ${priceTicks}, its limit is ${life.limitTicks}`,
      );
    }
  }

  private end(event: Extract<EngineEvent, { kind: 'orderEnded' }>): void {
    const life = this.lifeOf(event.orderId, 'ended');
    if (life === null) return;
    this.live.delete(event.orderId);
    const remaining = life.lots - life.settled;
    if (event.remainingLots !== remaining || (event.status === 'filled') !== (remaining === 0)) {
      this.fail(
        `order ${event.orderId} ended ${event.status} with ${event.remainingLots}, ${remaining} of ${life.lots} remain`,
      );
    }
  }

  private lifeOf(id: number, what: string): Lifecycle | null {
    const life = this.live.get(id);
    if (life !== undefined) return life;
    this.fail(`order ${id} ${what}, but ${id > this.highest ? 'was never accepted' : 'has ended'}`);
    return null;
  }
}
