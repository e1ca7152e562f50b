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

export class BookState {
  readonly bids = new Map<string, number>();
  readonly asks = new Map<string, number>();
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
    change(this.bids, update.bids);
    change(this.asks, update.asks);
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
    const levels = [...(side === 'bid' ? this.bids : this.asks)]
      .map(([price, size]) => [Number(price), size, price] as const)
      .sort(([a], [b]) => (side === 'bid' ? b - a : a - b));
    const rows: { price: string; size: number; sum: number }[] = [];
    let sum = 0;
    for (const [price, size, text] of levels) {
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

function change(levels: Map<string, number>, changes: readonly Level[]): void {
  for (const { price, quantity } of changes) {
    const size = Number(quantity);
    if (size === 0) levels.delete(price);
    else levels.set(price, size);
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
