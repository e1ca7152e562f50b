/**
 * Book feed of one market: a snapshot, then changed levels. Each message names its own sequence
 * number and the previous one, so that a client detects a gap.
 */
import type { ExchangeView, LevelView, MarketView } from '../../engine/read/views.ts';
import { marketTime, priceText, sizeText } from '../encode.ts';
import type { MarketId } from '../../num/units.ts';

type Levels = ReadonlyMap<number, number>;

export class BookFeed {
  private readonly market: MarketId;
  private bids: Levels = new Map();
  private asks: Levels = new Map();
  /** Sequence number of the last message; null before the first. */
  private lastSeq: number | null = null;

  constructor(market: MarketId) {
    this.market = market;
  }

  /** The whole book, on which the next delta is based. */
  snapshot(view: ExchangeView): unknown {
    if (this.lastSeq === null) this.readLevels(view);
    const market = view.market(this.market);
    return {
      symbol: market.spec.symbol,
      snapshot: true,
      bids: [...this.bids].map(([price, size]) => level(market, price, size)),
      asks: [...this.asks].map(([price, size]) => level(market, price, size)),
      previous_sequence_number: null,
      sequence_number: this.lastSeq,
      time: marketTime(view, view.nowUs),
    };
  }

  /** Levels changed since the last message; null if none changed or no snapshot was sent. */
  delta(view: ExchangeView): unknown {
    if (this.lastSeq === null) return null;
    const market = view.market(this.market);
    const { bids, asks, lastSeq } = this;
    if (market.bookSeq === lastSeq) return null;
    this.readLevels(view);
    const changed = {
      bids: changes(market, bids, this.bids),
      asks: changes(market, asks, this.asks),
    };
    if (changed.bids.length === 0 && changed.asks.length === 0) {
      this.lastSeq = lastSeq;
      return null;
    }
    return {
      symbol: market.spec.symbol,
      snapshot: false,
      ...changed,
      previous_sequence_number: lastSeq,
      sequence_number: this.lastSeq,
      time: marketTime(view, view.nowUs),
    };
  }

  /** Drops the state after the last subscriber leaves. */
  reset(): void {
    this.lastSeq = null;
    this.bids = new Map();
    this.asks = new Map();
  }

  private readLevels(view: ExchangeView): void {
    this.bids = levelsOf(view.depth(this.market, 'bid', Infinity));
    this.asks = levelsOf(view.depth(this.market, 'ask', Infinity));
    this.lastSeq = view.market(this.market).bookSeq;
  }
}

function levelsOf(levels: readonly LevelView[]): Levels {
  return new Map(levels.map(({ priceTicks, lots }) => [priceTicks, lots]));
}

/** Changed levels; size 0 removes a level. */
function changes(market: MarketView, before: Levels, after: Levels): unknown[] {
  const changed: unknown[] = [];
  for (const price of before.keys()) if (!after.has(price)) changed.push(level(market, price, 0));
  for (const [price, size] of after) {
    if (before.get(price) !== size) changed.push(level(market, price, size));
  }
  return changed;
}

function level(market: MarketView, price: number, size: number) {
  return { price: priceText(market, price), quantity: sizeText(market, size) };
}
