/**
 * What is liquidated as one: the cross positions of a subaccount with its cash, or one isolated position with its
 * margin.
 */
import type { MarketId } from '../../num/units.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { State } from '../state.ts';
import { isolatedEquity } from './isolated.ts';
import { maintenanceOf, upnlOf } from './requirement.ts';

export interface RiskFigures {
  readonly equity: bigint;
  readonly maintenance: bigint;
}

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

  figures(state: State): RiskFigures {
    if (this.isolated !== null) {
      const market = state.market(this.isolated.market);
      return {
        equity: isolatedEquity(this.isolated, market),
        maintenance: maintenanceOf(market, this.isolated.positionLots),
      };
    }
    let equity: bigint = this.subaccount.cash;
    let maintenance = 0n;
    for (const exposure of this.positions()) {
      const market = state.market(exposure.market);
      equity += upnlOf(exposure, market);
      maintenance += maintenanceOf(market, exposure.positionLots);
    }
    return { equity, maintenance };
  }
}

/** The unit that this position belongs to. */
export function unitOf(state: State, exposure: Exposure): RiskUnit {
  return new RiskUnit(state.subaccount(exposure.subaccount), exposure.isolated ? exposure : null);
}

/** Equity below maintenance; equality is safe. */
export function isBelowMaintenance({ equity, maintenance }: RiskFigures): boolean {
  return equity < maintenance;
}

/** Ascending equity ÷ maintenance, cross-multiplied; ties by dense id, the cross positions before isolated ones. */
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
