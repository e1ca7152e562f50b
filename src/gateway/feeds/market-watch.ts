/**
 * Changes of markets that no event reports. Until a market has a mark, its index may be
 * the mid price of the book, which moves with time, and its first price fixes the limit of open
 * interest. Afterwards every price is an event. An index becomes stale by time alone.
 */
import type { ExchangeView } from '../../engine/read/views.ts';
import type { MarketId } from '../../num/units.ts';
import type { Changes } from './changes.ts';

interface Seen {
  readonly indexTicks: number | null;
  readonly capLots: number;
}

export class MarketWatch {
  private readonly view: ExchangeView;
  /** Markets without a mark, as they were last seen. */
  private readonly unmarked = new Map<MarketId, Seen>();
  /** Markets with a fresh index, and when it becomes stale. */
  private readonly fresh = new Map<MarketId, number>();
  /** The earliest of these times. */
  private staleUs = Infinity;

  constructor(view: ExchangeView) {
    this.view = view;
    for (const { id } of view.markets()) this.see(id);
  }

  /** Adds what has changed since the last call. Returns whether anything was added. */
  note(changes: Changes): boolean {
    // First: seeing a market again forgets when its index would have become stale.
    let found = this.noteStale(changes.markets);
    // New markets are among these.
    for (const id of changes.terms) if (!this.unmarked.has(id)) this.see(id);
    for (const [id, before] of [...this.unmarked]) {
      const { indexTicks, capLots } = this.see(id);
      if (capLots !== before.capLots) changes.terms.add(id);
      if (indexTicks !== before.indexTicks) changes.markets.add(id);
      found ||= capLots !== before.capLots || indexTicks !== before.indexTicks;
    }
    for (const id of changes.markets) this.see(id);
    return found;
  }

  /** Adds the markets whose index has become stale. Without one, the cost is a comparison. */
  private noteStale(markets: Set<MarketId>): boolean {
    const { nowUs } = this.view;
    if (nowUs < this.staleUs) return false;
    this.staleUs = Infinity;
    let found = false;
    for (const [id, staleUs] of this.fresh) {
      if (nowUs < staleUs) {
        this.staleUs = Math.min(this.staleUs, staleUs);
        continue;
      }
      this.fresh.delete(id);
      markets.add(id);
      found = true;
    }
    return found;
  }

  private see(id: MarketId): Seen {
    const market = this.view.market(id);
    const { indexTicks, markTicks, openInterestCapLots: capLots } = market;
    const seen = { indexTicks, capLots };
    if (markTicks === null) this.unmarked.set(id, seen);
    else this.unmarked.delete(id);
    if (market.indexAtUs === null || market.indexStale || market.spec.indexSource === 'mid') {
      this.fresh.delete(id);
    } else {
      const staleUs = market.indexAtUs + this.view.config.indexStaleUs + 1;
      this.fresh.set(id, staleUs);
      this.staleUs = Math.min(this.staleUs, staleUs);
    }
    return seen;
  }
}
