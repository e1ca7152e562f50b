/**
 * Sums over the markets of a subaccount for the exact margin rules: each market's part is
 * kept with the values that it depends on, and computed again when one of them differs. So an order
 * costs one comparison per market, and arithmetic only for markets that changed since.
 *
 * Invariant (`marginSums`): the sums equal those of parts computed from the orders and positions.
 */
import { minus, moneyOf, NO_MONEY, plus, type Money } from '../../num/money.ts';
import type { PriceTicks } from '../../num/units.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { MarketSpec } from '../config.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { Market } from '../market/market.ts';
import { isolatedHold } from './isolated-margin.ts';
import {
  admittedMoney,
  frozenNotional,
  initialMoney,
  maintenanceMoney,
  mustMark,
  worstLots,
} from './requirement.ts';
import { restingSums } from './resting-sums.ts';

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

  isCurrent(exposure: Exposure, market: Market): boolean {
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

  compute(state: ExchangeState, subaccount: Subaccount, exposure: Exposure, market: Market): void {
    const resting = restingSums(state, subaccount, exposure, market);
    this.mark = market.markTicks;
    this.position = exposure.positionLots;
    this.changes = resting?.changes ?? 0;
    this.costMoney = exposure.costMoney;
    this.openInterest = openInterestOf(market);
    this.spec = market.spec;
    this.nextSpec = market.nextSpec;
    this.isFrozen = market.frozen;
    this.isolated = exposure.isolated;
    this.ownMarginPpm = exposure.ownMarginPpm;
    const cross = !exposure.isolated;
    this.upnl = cross ? admittedMoney(exposure, market) : NO_MONEY;
    this.frozen = cross ? moneyOf(frozenNotional(exposure, market)) : NO_MONEY;
    this.maintenance = cross ? maintenanceMoney(market, exposure.positionLots) : NO_MONEY;
    this.taken = takenOf(state, subaccount, exposure, market);
    this.cost =
      cross && resting !== null ? plus(resting.fees, resting.loss(mustMark(market))) : NO_MONEY;
  }
}

/** Open interest raises initial rates only in markets with such terms. */
function openInterestOf({ spec, openInterestLots }: Market): number {
  return spec.openNotionalLower === null ? 0 : openInterestLots;
}

/**
 * Cross equity used by a market: its requirement, or the cash that its orders reserve if isolated.
 */
export function takenOf(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
): Money {
  if (exposure.isolated) return moneyOf(isolatedHold(state, subaccount, exposure, market));
  const worst = worstLots(exposure.positionLots, exposure.bidLots, exposure.askLots);
  return initialMoney(exposure, market, worst);
}

/** The sums over all markets of the subaccount; brings them and all parts up to date. */
export function marginSums(state: ExchangeState, subaccount: Subaccount): MarginSums {
  const sums = (subaccount.margin ??= new MarginSums());
  for (const exposure of subaccount.opened) {
    const market = state.market(exposure.market);
    const part = (exposure.part ??= new MarginPart());
    if (part.isCurrent(exposure, market)) continue;
    sums.subtract(part);
    part.compute(state, subaccount, exposure, market);
    sums.add(part);
  }
  return sums;
}

const NOTHING: Readonly<MarginSums> = new MarginSums();

/** The part of an exposure in its subaccount's sums, which must be up to date. */
export function partOf(exposure: Exposure | null): Readonly<MarginSums> {
  return exposure?.part ?? NOTHING;
}
