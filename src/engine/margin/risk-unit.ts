/**
 * The unit of liquidation: the cross positions of a subaccount with its cash, or one
 * isolated position with its margin.
 *
 * Positions in frozen markets count at their frozen marks: losses fully, gains only up to the
 * maintenance requirement of the frozen positions (R-5.3b). Admission equity excludes their gains.
 */
import { minBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import type { MarketId, PriceTicks } from '../../num/units.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { maintenanceOf, mustMark, upnlOf } from './requirement.ts';

export interface RiskFigures {
  readonly equity: bigint;
  readonly maintenance: bigint;
}

/** The valuation price of a position of these signed lots. */
export type PriceOf = (market: Market, positionLots: number) => PriceTicks;

export class RiskUnit {
  readonly subaccount: Subaccount;
  /** The isolated position; null for the cross positions. */
  readonly isolated: Exposure | null;

  constructor(subaccount: Subaccount, isolated: Exposure | null) {
    this.subaccount = subaccount;
    this.isolated = isolated;
  }

  get market(): MarketId | null {
    return this.isolated?.market ?? null;
  }

  /** Cash, or the margin of the isolated position. */
  get balance(): bigint {
    return this.isolated === null ? this.subaccount.cash : this.isolated.marginQuanta;
  }

  /** Its open positions, by market id. */
  positions(): Exposure[] {
    if (this.isolated !== null) return this.isolated.positionLots === 0 ? [] : [this.isolated];
    const open: Exposure[] = [];
    for (const exposure of this.subaccount.exposures) {
      if (exposure !== undefined && !exposure.isolated && exposure.positionLots !== 0) {
        open.push(exposure);
      }
    }
    return open;
  }

  /** Its positions in markets that are not frozen; liquidation acts only on these. */
  freshPositions(state: ExchangeState): Exposure[] {
    return this.positions().filter(({ market }) => !state.market(market).frozen);
  }

  /** Liquidation equity at marks, and the maintenance requirement of all positions. */
  figures(state: ExchangeState): RiskFigures {
    let maintenance = 0n;
    for (const { market, positionLots } of this.positions()) {
      maintenance += maintenanceOf(state.market(market), positionLots);
    }
    return { equity: this.equityAt(state, mustMark), maintenance };
  }

  /** Liquidation equity with the fresh positions at the given prices. */
  equityAt(state: ExchangeState, priceOf: PriceOf): bigint {
    const { equity, frozenGains, frozenMaintenance } = this.parts(state, priceOf);
    return equity + minBig(frozenGains, frozenMaintenance);
  }

  /** Equity without gains of frozen positions: the money that the unit can pay. */
  admissionEquity(state: ExchangeState, priceOf: PriceOf = mustMark): bigint {
    return this.parts(state, priceOf).equity;
  }

  private parts(
    state: ExchangeState,
    priceOf: PriceOf,
  ): {
    readonly equity: bigint;
    readonly frozenGains: bigint;
    readonly frozenMaintenance: bigint;
  } {
    let equity = this.balance;
    let frozenGains = 0n;
    let frozenMaintenance = 0n;
    for (const exposure of this.positions()) {
      const market = state.market(exposure.market);
      const { positionLots } = exposure;
      if (!market.frozen) {
        const price = priceOf(market, positionLots);
        equity += notional(positionLots, price, market.spec.quantaPerTickLot) - exposure.costQuanta;
        continue;
      }
      const upnl = upnlOf(exposure, market);
      if (upnl < 0n) equity += upnl;
      else frozenGains += upnl;
      frozenMaintenance += maintenanceOf(market, positionLots);
    }
    return { equity, frozenGains, frozenMaintenance };
  }
}

/** The risk unit of this position. */
export function unitOf(state: ExchangeState, exposure: Exposure): RiskUnit {
  return new RiskUnit(state.subaccount(exposure.subaccount), exposure.isolated ? exposure : null);
}

/** Equity below maintenance; equality is safe. */
export function isBelowMaintenance({ equity, maintenance }: RiskFigures): boolean {
  return equity < maintenance;
}

/** By ascending equity ÷ maintenance, cross-multiplied. Ties: dense id, cross before isolated. */
export function inOrderOfDanger(
  a: { readonly unit: RiskUnit; readonly figures: RiskFigures },
  b: { readonly unit: RiskUnit; readonly figures: RiskFigures },
): number {
  const one = (maintenance: bigint): bigint => (maintenance > 0n ? maintenance : 1n);
  const left = a.figures.equity * one(b.figures.maintenance);
  const right = b.figures.equity * one(a.figures.maintenance);
  if (left !== right) return left < right ? -1 : 1;
  return (
    a.unit.subaccount.id - b.unit.subaccount.id || (a.unit.market ?? -1) - (b.unit.market ?? -1)
  );
}
