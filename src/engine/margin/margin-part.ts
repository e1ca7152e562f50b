/** The figures of one market in the margin of a subaccount; `margin-sums.ts` computes them. */
import { minus, NO_MONEY, plus, type Money } from '../../num/money.ts';
import type { PriceTicks } from '../../num/units.ts';
import type { MarketSpec } from '../config.ts';

/** Fields of an exposure and of a market that a part depends on. */
interface ExposureTerms {
  readonly positionLots: number;
  readonly costMoney: Money;
  readonly resting: { readonly changes: number } | null;
  readonly isolated: boolean;
  readonly ownMarginPpm: number;
}
interface MarketTerms {
  readonly markTicks: PriceTicks | null;
  readonly frozen: boolean;
  readonly spec: MarketSpec;
  readonly nextSpec: MarketSpec | null;
  readonly openInterestLots: number;
}

/** Contribution of markets to the margin of a subaccount, in Quanta. */
export class MarginSums {
  /** uPnL of cross positions in admission: without gains in frozen markets (R-5.3b). */
  upnl = NO_MONEY;
  /** Notional of cross positions in frozen markets. */
  frozen = NO_MONEY;
  /** Initial requirement with resting orders; for isolated markets, the cash they reserve. */
  taken = NO_MONEY;
  /** Cost of filling the resting orders of cross markets, all but reduce-only, at their limits. */
  cost = NO_MONEY;
  /** Maintenance requirement of cross positions. */
  maintenance = NO_MONEY;

  add(other: MarginSums): void {
    this.upnl = plus(this.upnl, other.upnl);
    this.frozen = plus(this.frozen, other.frozen);
    this.taken = plus(this.taken, other.taken);
    this.cost = plus(this.cost, other.cost);
    this.maintenance = plus(this.maintenance, other.maintenance);
  }

  subtract(other: MarginSums): void {
    this.upnl = minus(this.upnl, other.upnl);
    this.frozen = minus(this.frozen, other.frozen);
    this.taken = minus(this.taken, other.taken);
    this.cost = minus(this.cost, other.cost);
    this.maintenance = minus(this.maintenance, other.maintenance);
  }
}

/** The part of one exposure, and the values that it was computed from. */
export class MarginPart extends MarginSums {
  private position = 0;
  private costMoney: Money = NO_MONEY;
  private changes = 0;
  private isolated = false;
  private ownMarginPpm = 0;
  private mark: PriceTicks | null = null;
  private isFrozen = false;
  private spec: MarketSpec | null = null;
  private nextSpec: MarketSpec | null = null;
  private openInterest = 0;

  isCurrent(exposure: ExposureTerms, market: MarketTerms): boolean {
    return (
      this.mark === market.markTicks &&
      this.position === exposure.positionLots &&
      this.changes === (exposure.resting?.changes ?? 0) &&
      this.costMoney === exposure.costMoney &&
      this.openInterest === openInterestOf(market) &&
      this.spec === market.spec &&
      this.nextSpec === market.nextSpec &&
      this.isFrozen === market.frozen &&
      this.isolated === exposure.isolated &&
      this.ownMarginPpm === exposure.ownMarginPpm
    );
  }

  /** Records the values that the part is computed from. */
  take(exposure: ExposureTerms, market: MarketTerms): void {
    this.mark = market.markTicks;
    this.position = exposure.positionLots;
    this.changes = exposure.resting?.changes ?? 0;
    this.costMoney = exposure.costMoney;
    this.openInterest = openInterestOf(market);
    this.spec = market.spec;
    this.nextSpec = market.nextSpec;
    this.isFrozen = market.frozen;
    this.isolated = exposure.isolated;
    this.ownMarginPpm = exposure.ownMarginPpm;
  }
}

/** Open interest raises initial rates only in markets with such terms. */
function openInterestOf({ spec, openInterestLots }: MarketTerms): number {
  return spec.openNotionalLower === null ? 0 : openInterestLots;
}
