/**
 * Book feed of one market: a snapshot, then changed levels. Each message names its own sequence
 * number and the previous one, so that a client detects a gap.
 *
 * A delta costs the levels that changed, not those of the book.
 */
import type { BookMark } from '../../engine/book/changed-prices.ts';
import type { Side } from '../../engine/commands.ts';
import type { ExchangeView, LevelView, MarketView } from '../../engine/read/views.ts';
import { marketTime, priceText, sizeText } from '../encode.ts';
import type { MarketId } from '../../num/units.ts';

/** Lots by price. */
type Levels = Map<number, number>;

interface Change {
  readonly price: number;
  /** 0 removes the level. */
  readonly lots: number;
}

const SIDES = ['bid', 'ask'] as const;

export class BookFeed {
  private readonly market: MarketId;
  /** As the last message shows it. */
  private readonly shown: Record<Side, Levels> = { bid: new Map(), ask: new Map() };
  private mark: BookMark | null = null;
  /** Sequence number of the last message; null before the first. */
  private lastSeq: number | null = null;

  constructor(market: MarketId) {
    this.market = market;
  }

  /** The whole book, on which the next delta is based. */
  snapshot(view: ExchangeView): unknown {
    const market = view.market(this.market);
    if (this.lastSeq === null) {
      this.update(view);
      this.lastSeq = market.bookSeq;
    }
    const levels = (side: Side): unknown[] =>
      bestFirst(
        side,
        Array.from(this.shown[side], ([price, lots]) => ({ price, lots })),
      ).map((change) => level(market, change));
    return {
      symbol: market.spec.symbol,
      snapshot: true,
      bids: levels('bid'),
      asks: levels('ask'),
      previous_sequence_number: null,
      sequence_number: this.lastSeq,
      time: marketTime(view, view.nowUs),
    };
  }

  /** Levels changed since the last message; null if none changed or no snapshot was sent. */
  delta(view: ExchangeView): unknown {
    const { lastSeq } = this;
    if (lastSeq === null) return null;
    const market = view.market(this.market);
    if (market.bookSeq === lastSeq) return null;
    const changed = this.update(view);
    if (changed.bid.length === 0 && changed.ask.length === 0) return null;
    this.lastSeq = market.bookSeq;
    const levels = (side: Side): unknown[] =>
      removedFirst(side, changed[side]).map((change) => level(market, change));
    return {
      symbol: market.spec.symbol,
      snapshot: false,
      bids: levels('bid'),
      asks: levels('ask'),
      previous_sequence_number: lastSeq,
      sequence_number: market.bookSeq,
      time: marketTime(view, view.nowUs),
    };
  }

  /** Drops the state after the last subscriber leaves. */
  reset(): void {
    this.lastSeq = null;
    this.mark = null;
    for (const side of SIDES) this.shown[side].clear();
  }

  /** Shows the present book; returns the differences. */
  private update(view: ExchangeView): Record<Side, Change[]> {
    const { mark, levels } = view.bookChanges(this.market, this.mark);
    this.mark = mark;
    const changed: Record<Side, Change[]> = { bid: [], ask: [] };
    if (levels === null) {
      for (const side of SIDES) {
        const now = levelsOf(view.depth(this.market, side, Infinity));
        for (const price of this.shown[side].keys()) {
          if (!now.has(price)) this.show(side, { price, lots: 0 }, changed);
        }
        for (const [price, lots] of now) this.show(side, { price, lots }, changed);
      }
    } else {
      for (const { side, priceTicks, lots } of levels) {
        this.show(side, { price: priceTicks, lots }, changed);
      }
    }
    return changed;
  }

  private show(side: Side, change: Change, changed: Record<Side, Change[]>): void {
    const shown = this.shown[side];
    const { price, lots } = change;
    if ((shown.get(price) ?? 0) === lots) return;
    if (lots === 0) shown.delete(price);
    else shown.set(price, lots);
    changed[side].push(change);
  }
}

function levelsOf(levels: readonly LevelView[]): Levels {
  return new Map(levels.map(({ priceTicks, lots }) => [priceTicks, lots]));
}

function bestFirst(side: Side, levels: Change[]): Change[] {
  const sign = side === 'bid' ? -1 : 1;
  return levels.sort((a, b) => sign * (a.price - b.price));
}

function removedFirst(side: Side, changes: Change[]): Change[] {
  return bestFirst(side, changes).sort((a, b) => Number(a.lots !== 0) - Number(b.lots !== 0));
}

function level(market: MarketView, { price, lots }: Change) {
  return { price: priceText(market, price), quantity: sizeText(market, lots) };
}
