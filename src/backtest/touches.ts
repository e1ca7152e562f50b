/**
 * Best bid and ask of each market as numbers, updated from the event of each tape command, so that
 * no view is created while users are idle. They are refreshed from a view after requests and
 * timers, and in markets where a user's order changed the book after the event of the tape, or
 * without one. So a recorded mark fires a stop, and a trade in one market liquidates a position in
 * another.
 */
import type { EngineEvent, TapeApplied } from '../engine/events.ts';
import type { ExchangeView, MarketView } from '../engine/read/views.ts';
import type { MarketId } from '../num/units.ts';

export interface Touch {
  bidTicks: number | null;
  bidLots: number;
  askTicks: number | null;
  askLots: number;
  /** Changed since the last publication. */
  changed: boolean;
}

export class Touches {
  private readonly touches: Touch[];
  private readonly halfTicks: number[];
  /** Markets whose book users' orders changed since the last refresh. */
  private readonly changed = new Set<MarketId>();

  constructor(markets: readonly MarketView[]) {
    this.touches = markets.map(() => ({
      bidTicks: null,
      bidLots: 0,
      askTicks: null,
      askLots: 0,
      changed: false,
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

  /** Marks the current prices as published. */
  markPublished(): void {
    for (const touch of this.touches) touch.changed = false;
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
  if (
    touch.bidTicks === bidTicks &&
    touch.askTicks === askTicks &&
    touch.bidLots === bidLots &&
    touch.askLots === askLots
  ) {
    return;
  }
  touch.bidTicks = bidTicks;
  touch.bidLots = bidLots;
  touch.askTicks = askTicks;
  touch.askLots = askLots;
  touch.changed = true;
}

/** Removes rounding noise of a product of decimals: 61800.15, not 61800.150000000001. */
function rounded(price: number): number {
  return Math.round(price * 1e8) / 1e8;
}
