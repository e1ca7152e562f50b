/**
 * Order book from a feed: a snapshot, then changes. Prices are whole ticks internally, decimal text
 * externally.
 */
import { must } from '../base/assert.ts';
import type { BookUpdate, Level, MarketTerms } from '../strategy/strategy.ts';
import { formatDecimal, parseDecimal, stepsExact, type Decimal } from '../num/decimal.ts';

interface LevelMessage {
  readonly price: string;
  readonly quantity: string;
}

export interface BookMessage {
  readonly symbol: string;
  readonly snapshot: boolean;
  readonly bids: readonly LevelMessage[];
  readonly asks: readonly LevelMessage[];
}

export class LiveBook {
  private readonly market: MarketTerms;
  private readonly tick: Decimal;
  private readonly bids = new Map<number, string>();
  private readonly asks = new Map<number, string>();
  private lastTouch: string;

  /** `wasEmpty`: an empty first book is no update. */
  constructor(market: MarketTerms, wasEmpty = false) {
    this.market = market;
    this.lastTouch = wasEmpty ? '   ' : '';
    this.tick = must(parseDecimal(market.tickSize) ?? undefined, 'a tick size is decimal text');
  }

  /** Applies a message; returns an update if the best price or size of a side changed. */
  take(message: BookMessage, timeUs: number, depth: number): BookUpdate | null {
    if (message.snapshot) {
      this.bids.clear();
      this.asks.clear();
    }
    for (const level of message.bids) this.set(this.bids, level);
    for (const level of message.asks) this.set(this.asks, level);
    const bids = this.best(this.bids, -1, depth);
    const asks = this.best(this.asks, 1, depth);
    const [bid = null] = bids;
    const [ask = null] = asks;
    const touch = `${bid?.price ?? ''} ${bid?.size ?? ''} ${ask?.price ?? ''} ${ask?.size ?? ''}`;
    if (touch === this.lastTouch) return null;
    this.lastTouch = touch;
    return {
      symbol: this.market.symbol,
      timeUs,
      bid,
      ask,
      bidTicks: bid === null ? null : this.ticksOf(bid.price),
      askTicks: ask === null ? null : this.ticksOf(ask.price),
      tickSize: this.market.tickSize,
      mid: bid === null || ask === null ? null : midOf(bid, ask),
      bids,
      asks,
    };
  }

  private set(side: Map<number, string>, { price, quantity }: LevelMessage): void {
    const ticks = this.ticksOf(price);
    if (quantity === '0') side.delete(ticks);
    else side.set(ticks, quantity);
  }

  private best(side: ReadonlyMap<number, string>, sign: 1 | -1, depth: number): Level[] {
    const prices = [...side.keys()].sort((a, b) => sign * (a - b)).slice(0, depth);
    return prices.map((ticks) => ({
      price: formatDecimal(BigInt(ticks) * this.tick.digits, this.tick.scale),
      size: side.get(ticks) ?? '0',
    }));
  }

  private ticksOf(price: string): number {
    const value = must(parseDecimal(price) ?? undefined, 'a price is decimal text');
    return Number(must(stepsExact(value, this.tick) ?? undefined, 'a price is on a tick'));
  }
}

/** Without rounding noise, as in a backtest. */
function midOf(bid: Level, ask: Level): number {
  return Math.round(((Number(bid.price) + Number(ask.price)) / 2) * 1e8) / 1e8;
}
