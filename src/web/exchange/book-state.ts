/** An order book kept by the feed's snapshots and changes. */
export interface BookUpdate {
  readonly symbol: string;
  readonly snapshot: boolean;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly previous_sequence_number: number | null;
  readonly sequence_number: number;
}

interface Level {
  readonly price: string;
  readonly quantity: string;
}

export interface Row {
  readonly price: string;
  readonly size: number;
  /** Of this level and all better ones. */
  readonly sum: number;
}

/** A price of the book; its size changes in place. */
interface Held {
  readonly text: string;
  readonly price: number;
  size: number;
}

/** Levels of a side; they are sorted again only after one was added. */
class Side {
  private readonly direction: 1 | -1;
  private readonly levels = new Map<string, Held>();
  private sorted: Held[] | null = null;

  constructor(direction: 1 | -1) {
    this.direction = direction;
  }

  clear(): void {
    this.levels.clear();
    this.sorted = null;
  }

  change(changes: readonly Level[]): void {
    for (const { price: text, quantity } of changes) {
      const size = Number(quantity);
      const held = this.levels.get(text);
      if (held !== undefined) {
        held.size = size;
        if (size === 0) this.levels.delete(text);
      } else if (size !== 0) {
        this.levels.set(text, { text, price: Number(text), size });
        this.sorted = null;
      }
    }
  }

  /** Best first. */
  get best(): readonly Held[] {
    // Levels that ended since the last sort have no size.
    this.sorted ??= [...this.levels.values()].sort((a, b) => (a.price - b.price) * this.direction);
    return this.sorted;
  }
}

export class BookState {
  private readonly bids = new Side(-1);
  private readonly asks = new Side(1);
  private seq: number | null = null;

  /** False after a gap: the book is to be read again. */
  take(update: BookUpdate): boolean {
    if (update.snapshot) {
      this.bids.clear();
      this.asks.clear();
    } else if (this.seq === null || update.previous_sequence_number !== this.seq) {
      const isFirst = this.seq === null;
      this.seq = null;
      // Changes before the snapshot are part of it.
      return isFirst;
    }
    this.seq = update.sequence_number;
    this.bids.change(update.bids);
    this.asks.change(update.asks);
    return true;
  }

  /** Forgets the book; the next snapshot fills it. */
  reset(): void {
    this.seq = null;
    this.bids.clear();
    this.asks.clear();
  }

  /** The best levels, best first, merged into steps of `step` of the price. */
  side(side: 'bid' | 'ask', limit: number, step = 0): Row[] {
    const rows: { price: string; size: number; sum: number }[] = [];
    let sum = 0;
    for (const { text, price, size } of (side === 'bid' ? this.bids : this.asks).best) {
      if (size === 0) continue;
      sum += size;
      const merged = step === 0 ? text : roundTo(price, step, side);
      const last = rows.at(-1);
      if (last?.price === merged) {
        last.size += size;
        last.sum = sum;
      } else if (rows.length === limit) break;
      else rows.push({ price: merged, size, sum });
    }
    return rows;
  }
}

/** Away from the middle, so that a merged level is never better than its orders. */
function roundTo(price: number, step: number, side: 'bid' | 'ask'): string {
  const steps = price / step;
  const whole = side === 'bid' ? Math.floor(steps + 1e-9) : Math.ceil(steps - 1e-9);
  return (whole * step).toFixed(decimalsOf(step));
}

export function decimalsOf(step: number | string): number {
  const text = typeof step === 'string' ? step : String(step);
  if (text.includes('e-')) return Number(text.split('e-')[1]);
  return text.split('.')[1]?.length ?? 0;
}
