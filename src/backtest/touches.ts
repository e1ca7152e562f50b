/**
 * Best bid and ask of each market as numbers, updated from the event of each tape command, so that
 * no view is created while users are idle. They are refreshed from a view after requests and
 * timers, and in markets where a user's order changed the book after the event of the tape, or
 * without one. So a recorded mark fires a stop, and a trade in one market liquidates a position in
 * another.
 */
import type { EngineEvent, TapeApplied } from '../engine/events.ts';
import type { ExchangeView, MarketView } from '../engine/read/views.ts';
import { marketId, type MarketId } from '../num/units.ts';

interface Prices {
  bidTicks: number | null;
  bidLots: number;
  askTicks: number | null;
  askLots: number;
}

const noPrices = (): Prices => ({ bidTicks: null, bidLots: 0, askTicks: null, askLots: 0 });

interface Touch extends Prices {
  /** Changed since the last publication, perhaps back to what it was then. */
  changed: boolean;
  /** As it was last published. */
  readonly published: Prices;
}

export class Touches {
  private readonly touches: Touch[];
  private readonly halfTicks: number[];
  /** Markets whose book users' orders changed since the last refresh. */
  private readonly changed = new Set<MarketId>();

  constructor(markets: readonly MarketView[]) {
    this.touches = markets.map(() => ({
      ...noPrices(),
      changed: false,
      published: noPrices(),
    }));
    this.halfTicks = markets.map(({ spec }) => Number(spec.tickSize) / 2);
  }

  of(market: MarketId): Touch {
    const touch = this.touches[market];
    if (touch === undefined) throw new RangeError('best prices exist for listed markets only');
    return touch;
  }

  /** Null while a side is empty. */
  mid(market: MarketId): number | null {
    const { bidTicks, askTicks } = this.of(market);
    return bidTicks === null || askTicks === null ? null : this.price(market, bidTicks + askTicks);
  }

  price(market: MarketId, halfTicks: number): number {
    return rounded(halfTicks * (this.halfTicks[market] ?? 0));
  }

  onTape(event: TapeApplied): void {
    const touch = this.touches[event.market];
    if (touch === undefined) return;
    set(touch, event.bestBidTicks, event.bestBidLots, event.bestAskTicks, event.bestAskLots);
  }

  /** Notes the market of an event that may change the book. */
  onEvent(event: EngineEvent): void {
    switch (event.kind) {
      case 'orderRested':
      case 'orderFilled':
      case 'orderEnded':
        this.changed.add(event.market);
        return;
      default:
    }
  }

  /** Refreshes the prices of the markets that users' orders changed. */
  refreshChanged(view: ExchangeView): void {
    if (this.changed.size === 0) return;
    for (const market of this.changed) this.refresh(view, market);
    this.changed.clear();
  }

  /** Marks the prices of a market as published; returns whether that changes what was before. */
  publish(market: MarketId): boolean {
    const touch = this.of(market);
    if (!touch.changed) return false;
    touch.changed = false;
    const { bidTicks, bidLots, askTicks, askLots } = touch;
    return assign(touch.published, bidTicks, bidLots, askTicks, askLots);
  }

  /** Marks the current prices as published. */
  markPublished(): void {
    this.touches.forEach((_, id) => this.publish(marketId(id)));
  }

  /** Refreshes the prices after changes that did not come from the tape. */
  refresh(view: ExchangeView, market: MarketId): void {
    const { bestBid, bestAsk } = view.market(market);
    set(
      this.of(market),
      bestBid?.priceTicks ?? null,
      bestBid?.lots ?? 0,
      bestAsk?.priceTicks ?? null,
      bestAsk?.lots ?? 0,
    );
  }
}

function set(
  touch: Touch,
  bidTicks: number | null,
  bidLots: number,
  askTicks: number | null,
  askLots: number,
): void {
  if (assign(touch, bidTicks, bidLots, askTicks, askLots)) touch.changed = true;
}

/** Returns whether anything changes. */
function assign(
  prices: Prices,
  bidTicks: number | null,
  bidLots: number,
  askTicks: number | null,
  askLots: number,
): boolean {
  if (
    prices.bidTicks === bidTicks &&
    prices.askTicks === askTicks &&
    prices.bidLots === bidLots &&
    prices.askLots === askLots
  ) {
    return false;
  }
  prices.bidTicks = bidTicks;
  prices.bidLots = bidLots;
  prices.askTicks = askTicks;
  prices.askLots = askLots;
  return true;
}

/** Removes rounding noise of a product of decimals: 61800.15, not 61800.150000000001. */
function rounded(price: number): number {
  return Math.round(price * 1e8) / 1e8;
}
