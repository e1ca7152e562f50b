/**
 * One market's book for its subscribers: a snapshot, then the levels that changed, each message naming the sequence number before it and its
 * own, so that a client sees a gap.
 */
import type { ExchangeView, LevelView, MarketView } from '../../engine/read/views.ts';
import { marketTime, priceText, sizeText } from '../../gateway/encode.ts';
import type { MarketId } from '../../num/units.ts';

type Levels = ReadonlyMap<number, number>;

export class BookFeed {
  private readonly market: MarketId;
  private bids: Levels = new Map();
  private asks: Levels = new Map();
  /** Sequence number of the last message; null while nobody has been told anything. */
  private told: number | null = null;

  constructor(market: MarketId) {
    this.market = market;
  }

  /** The whole book as the next delta goes on from it. */
  snapshot(view: ExchangeView): unknown {
    if (this.told === null) this.look(view);
    const market = view.market(this.market);
    return {
      symbol: market.spec.symbol,
      snapshot: true,
      bids: [...this.bids].map(([price, size]) => level(market, price, size)),
      asks: [...this.asks].map(([price, size]) => level(market, price, size)),
      previous_sequence_number: null,
      sequence_number: this.told,
      time: marketTime(view, view.nowUs),
    };
  }

  /** What has changed since the last message; null when nothing has, or nobody was told anything. */
  delta(view: ExchangeView): unknown {
    if (this.told === null) return null;
    const market = view.market(this.market);
    const { bids, asks, told } = this;
    if (market.bookSeq === told) return null;
    this.look(view);
    const changed = {
      bids: changes(market, bids, this.bids),
      asks: changes(market, asks, this.asks),
    };
    if (changed.bids.length === 0 && changed.asks.length === 0) {
      this.told = told;
      return null;
    }
    return {
      symbol: market.spec.symbol,
      snapshot: false,
      ...changed,
      previous_sequence_number: told,
      sequence_number: this.told,
      time: marketTime(view, view.nowUs),
    };
  }

  /** Nobody watches any more. */
  forget(): void {
    this.told = null;
    this.bids = new Map();
    this.asks = new Map();
  }

  private look(view: ExchangeView): void {
    this.bids = levelsOf(view.depth(this.market, 'bid', Infinity));
    this.asks = levelsOf(view.depth(this.market, 'ask', Infinity));
    this.told = view.market(this.market).bookSeq;
  }
}

function levelsOf(levels: readonly LevelView[]): Levels {
  return new Map(levels.map(({ priceTicks, lots }) => [priceTicks, lots]));
}

/** Levels that differ; size 0 is a level that is gone. */
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
