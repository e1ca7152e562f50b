/**
 * A market's recorded book up to an instant, to be quoted at other prices after it: levels, and
 * single orders in the order of their queue.
 */
import type { Command, TapeL3, TapeLevel } from '../engine/commands.ts';
import { lots, priceTicks, type MarketId, type PriceTicks, type TimeUs } from '../num/units.ts';

export class MovedBook {
  /** Ticks by which the market's prices differ after the instant; null before it. */
  ticks: number | null = null;
  private readonly market: MarketId;
  /** Volume without an order's number. */
  private readonly levels = new Map<string, TapeLevel>();
  /** Orders by number; each in its state after the last command. */
  private readonly orders = new Map<number, TapeL3>();

  constructor(market: MarketId) {
    this.market = market;
  }

  take(levels: readonly TapeLevel[], isWhole: boolean): void {
    if (isWhole) {
      this.levels.clear();
      this.orders.clear();
    }
    for (const level of levels) this.levels.set(keyOf(level), level);
  }

  takeOrder(command: TapeL3): void {
    const { action, ref, lots: size } = command;
    const order = this.orders.get(ref);
    if (action === 'add') {
      // A reused number is a new order, behind the others.
      this.orders.delete(ref);
      this.orders.set(ref, command);
      return;
    }
    if (order === undefined) {
      const level = this.levels.get(keyOf(command));
      if (level === undefined) return;
      this.levels.set(keyOf(command), { ...level, lots: lots(Math.max(0, level.lots - size)) });
      return;
    }
    const left = action === 'remove' ? 0 : order.lots - size;
    if (left > 0) this.orders.set(ref, { ...order, lots: lots(left) });
    else this.orders.delete(ref);
  }

  /** The whole book at the new prices; empty if nothing was recorded. */
  commands(timeUs: TimeUs): Command[] {
    const { market } = this;
    const levels = this.moved(this.levels.values()).filter((level) => level.lots > 0);
    const orders = [...this.orders.values()].filter(({ priceTicks: price }) =>
      this.isQuoted(price),
    );
    if (levels.length + orders.length === 0) return [];
    // Orders end with their level, also where a level of the moved book has its price.
    const cleared: Command[] =
      orders.length > 0 ? [{ kind: 'tapeSnapshot', timeUs, market, levels: [] }] : [];
    return [
      ...cleared,
      { kind: 'tapeSnapshot', timeUs, market, levels },
      ...orders.map((order) => ({ ...order, timeUs, priceTicks: this.price(order.priceTicks) })),
    ];
  }

  moved(levels: Iterable<TapeLevel>): TapeLevel[] {
    return [...levels]
      .filter(({ priceTicks: price }) => this.isQuoted(price))
      .map((level) => ({ ...level, priceTicks: this.price(level.priceTicks) }));
  }

  price(price: PriceTicks): PriceTicks {
    return priceTicks(Math.max(1, price + (this.ticks ?? 0)));
  }

  private isQuoted(price: PriceTicks): boolean {
    return this.ticks !== null && price + this.ticks > 0;
  }
}

function keyOf({ side, priceTicks: price }: Pick<TapeLevel, 'side' | 'priceTicks'>): string {
  return `${side}${String(price)}`;
}
