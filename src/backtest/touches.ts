/**
 * The best bid and ask of each market, kept as numbers from what the exchange says after each command of the tape, so that
 * a quiet run never asks for a view. What users' requests and timers change is read afterwards.
 */
import type { TapeApplied } from '../engine/events.ts';
import type { ExchangeView, MarketView } from '../engine/read/views.ts';
import type { MarketId } from '../num/units.ts';

export interface Touch {
  bidTicks: number | null;
  bidLots: number;
  askTicks: number | null;
  askLots: number;
  /** Since it was last published. */
  changed: boolean;
}

export class Touches {
  private readonly touches: Touch[];
  private readonly halfTicks: number[];

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
    if (touch === undefined) throw new RangeError('a touch is asked for a listed market');
    return touch;
  }

  /** null while a side is empty. */
  mid(market: MarketId): number | null {
    const { bidTicks, askTicks } = this.of(market);
    if (bidTicks === null || askTicks === null) return null;
    return rounded((bidTicks + askTicks) * (this.halfTicks[market] ?? 0));
  }

  onTape(event: TapeApplied): void {
    const touch = this.touches[event.market];
    if (touch === undefined) return;
    set(touch, event.bestBidTicks, event.bestBidLots, event.bestAskTicks, event.bestAskLots);
  }

  /** What stands now has been told already. */
  markPublished(): void {
    for (const touch of this.touches) touch.changed = false;
  }

  /** Reads what something else than the tape may have changed. */
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

/** Without the last bits that a product of decimals leaves: 61800.15, not 61800.150000000001. */
function rounded(price: number): number {
  return Math.round(price * 1e8) / 1e8;
}
