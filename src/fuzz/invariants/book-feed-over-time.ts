import type { EngineEvent } from '../../engine/events.ts';
import type { Engine } from '../../engine/read/views.ts';
import { marketId } from '../../num/units.ts';
import { StreamInvariant } from './stream-invariant.ts';

interface Standing {
  readonly id: number;
  readonly market: number;
  readonly side: 1 | -1;
  readonly priceTicks: number;
  left: number;
}

interface Sides {
  readonly bid: Map<number, Standing[]>;
  readonly ask: Map<number, Standing[]>;
}

/**
 * Order events alone rebuild the book and show price-time priority among the users' resting orders.
 * Markets with recorded liquidity are excluded.
 */
export class BookFeed extends StreamInvariant {
  readonly name = 'feedRebuildsBook';
  readonly rule = 'R-2.5, R-11.4';
  readonly says = 'order events rebuild the book, and makers trade by price, then time';
  private readonly standing = new Map<number, Standing>();
  /** By market, bids and asks: price to orders by time. */
  private readonly levels = new Map<number, Sides>();
  private readonly taped = new Set<number>();

  see(event: EngineEvent): void {
    switch (event.kind) {
      case 'tapeApplied':
        this.taped.add(event.market);
        break;
      case 'orderRested':
        this.rest(event);
        break;
      case 'orderFilled': {
        const order = this.standing.get(event.orderId);
        // Recorded trades fill before their event, and skip orders that cannot be filled.
        if (event.cause === 'tape') this.taped.add(event.market);
        if (event.role === 'taker' || order === undefined) break;
        if (!this.taped.has(event.market)) this.checkTurn(order);
        order.left = event.remainingLots;
        break;
      }
      // A leg without anything to protect is pending again.
      case 'orderPending':
      case 'orderEnded':
        this.remove(event.orderId);
        break;
      default:
    }
  }

  override compare(engine: Engine): void {
    for (const [market, sides] of this.levels) {
      if (this.taped.has(market)) continue;
      this.compareSide(engine, market, 'bid', sides.bid);
      this.compareSide(engine, market, 'ask', sides.ask);
    }
  }

  private compareSide(
    engine: Engine,
    market: number,
    side: 'bid' | 'ask',
    levels: ReadonlyMap<number, Standing[]>,
  ): void {
    const outward = side === 'bid' ? -1 : 1;
    const prices = [...levels.keys()].sort((a, b) => outward * (a - b));
    const shown = engine.depth(marketId(market), side, levels.size + 1);
    for (let i = 0; i < Math.max(shown.length, prices.length); i += 1) {
      const level = shown[i];
      const price = prices[i];
      const size = price === undefined ? 0 : sizeOf(levels.get(price) ?? []);
      if (level !== undefined && level.priceTicks === price && level.lots === size) continue;
      const is = level === undefined ? 'less' : `${level.priceTicks}: ${level.lots}`;
      const rebuilt = price === undefined ? 'less' : `${price}: ${size}`;
      this.fail(`market ${market}: the book shows ${is}, its events ${rebuilt}`);
      return;
    }
  }

  private rest(event: Extract<EngineEvent, { kind: 'orderRested' }>): void {
    const { orderId: id, market, priceTicks, remainingLots } = event;
    const side = remainingLots > 0 ? 1 : -1;
    const order: Standing = { id, market, side, priceTicks, left: remainingLots };
    this.standing.set(id, order);
    const levels = this.side(market, side);
    const queue = levels.get(priceTicks);
    if (queue === undefined) levels.set(priceTicks, [order]);
    else queue.push(order);
  }

  private checkTurn(order: Standing): void {
    const levels = this.side(order.market, order.side);
    for (const price of levels.keys()) {
      if (order.side * (price - order.priceTicks) > 0) {
        this.fail(`order ${order.id} trades at ${order.priceTicks} while ${price} rests`);
      }
    }
    const first = levels.get(order.priceTicks)?.[0];
    if (first !== order)
      this.fail(`order ${order.id} trades before order ${first?.id ?? 0} at ${order.priceTicks}`);
  }

  private remove(id: number): void {
    const order = this.standing.get(id);
    if (order === undefined) return;
    this.standing.delete(id);
    const levels = this.side(order.market, order.side);
    const queue = levels.get(order.priceTicks) ?? [];
    queue.splice(queue.indexOf(order), 1);
    if (queue.length === 0) levels.delete(order.priceTicks);
  }

  private side(market: number, side: 1 | -1): Map<number, Standing[]> {
    let sides = this.levels.get(market);
    if (sides === undefined) {
      sides = { bid: new Map(), ask: new Map() };
      this.levels.set(market, sides);
    }
    return side > 0 ? sides.bid : sides.ask;
  }
}

/** Lots resting at a level. */
function sizeOf(orders: readonly Standing[]): number {
  let size = 0;
  for (const { left } of orders) size += Math.abs(left);
  return size;
}
