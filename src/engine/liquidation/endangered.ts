/**
 * Units below maintenance now. Candidates are marked subaccounts and those whose bound the
 * mark has passed. Safe ones get new bounds; the proof is in liquidation-index.ts.
 */
import { PPM, priceTicks, timeUs, type PriceTicks } from '../../num/units.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { repayClearingDebt } from './clearing-debt.ts';
import { emitStep } from './liquidation-step.ts';
import { mustMark } from '../margin/requirement.ts';
import { isBelowMaintenance, RiskUnit, type RiskFigures } from '../margin/risk-unit.ts';

export interface Endangered {
  readonly unit: RiskUnit;
  readonly figures: RiskFigures;
}

/**
 * Tests all candidates; endangered ones stay marked, except those that wait for a thaw.
 * `endsLiquidations`: if safe, they end.
 */
export function findEndangered(state: State, endsLiquidations: boolean): Endangered[] {
  for (const market of state.context.due.takeMoved()) {
    // A halt also freezes a market that never had a mark.
    const mark = market.markTicks;
    for (; mark !== null;) {
      const exposure = market.liquidation.takeEndangered(mark);
      if (exposure === undefined) break;
      state.markForRiskCheck(state.subaccount(exposure.subaccount));
    }
  }
  const endangered: Endangered[] = [];
  const marked = state.drainRiskChecks().filter(({ role }) => role !== 'house');
  // After Phase A: the unit's gain at the thaw first covers the deficits of that step.
  if (endsLiquidations) {
    for (const subaccount of marked) {
      if (subaccount.clearingDebt > 0n) repayClearingDebt(state, subaccount);
    }
    for (const market of state.markets) market.frozenAtCheck = market.frozen;
  }
  for (const subaccount of marked) {
    let isMarked = !endsLiquidations && subaccount.clearingDebt > 0n;
    subaccount.waitsForThaw = false;
    for (const unit of unitsOf(state, subaccount)) {
      const figures = unit.figures(state);
      if (isBelowMaintenance(figures)) {
        if (endsLiquidations && waitsForThaw(state, unit)) {
          subaccount.waitsForThaw = true;
          continue;
        }
        endangered.push({ unit, figures });
        isMarked = true;
      } else if (!endsLiquidations && isUnderWay(unit)) isMarked = true;
      else setBounds(state, unit, figures);
    }
    if (isMarked) state.markForRiskCheck(subaccount);
  }
  return endangered;
}

/**
 * Whether nothing can be done for a unit below maintenance before a thaw: its orders are cancelled,
 * and all its positions are frozen at marks that stay. A thaw, new terms, a fill or a credit marks
 * its owner again, so marks of other markets need not test it.
 */
function waitsForThaw(state: State, unit: RiskUnit): boolean {
  const positions = unit.positions();
  return (
    positions.length > 0 &&
    positions.every(
      ({ market, liquidationLots }) => liquidationLots !== 0 && state.market(market).frozen,
    )
  );
}

const isUnderWay = (unit: RiskUnit): boolean =>
  unit.positions().some(({ liquidationLots }) => liquidationLots !== 0);

function unitsOf(state: ExchangeState, subaccount: Subaccount): RiskUnit[] {
  const units = [new RiskUnit(subaccount, null)];
  for (const exposure of subaccount.exposures) {
    if (exposure === undefined) continue;
    if (exposure.positionLots === 0) state.market(exposure.market).liquidation.remove(exposure);
    else if (exposure.isolated) units.push(new RiskUnit(subaccount, exposure));
  }
  return units;
}

/** The proof of these bounds is in liquidation-index.ts. */
function setBounds(state: State, unit: RiskUnit, { equity, maintenance }: RiskFigures): void {
  const positions = unit.positions();
  const count = BigInt(unit.freshPositions(state).length);
  const slack = equity - maintenance - count;
  const share = count > 0n && slack > 0n ? slack / count : 0n;
  for (const exposure of positions) {
    if (exposure.liquidationLots !== 0) stopLiquidating(state, unit, exposure);
    const market = state.market(exposure.market);
    if (market.frozen) {
      market.liquidation.remove(exposure);
      continue;
    }
    const mark = mustMark(market);
    const tick = BigInt(Math.abs(exposure.positionLots)) * BigInt(market.spec.quantaPerTickLot);
    if (exposure.positionLots > 0) {
      market.liquidation.put(exposure, mark - Number(share / tick));
    } else {
      const rate = BigInt(PPM + market.highestMaintenancePpm);
      market.liquidation.put(exposure, mark + Number((share * BigInt(PPM)) / (tick * rate)));
    }
  }
}

/** The unit is safe again. */
function stopLiquidating(state: State, unit: RiskUnit, exposure: Exposure): void {
  exposure.liquidationLots = 0;
  exposure.liquidationResumesUs = timeUs(0);
  emitStep(state, unit, unit.figures(state), { step: 'safe', market: exposure.market });
}

/**
 * The first mark toward `to` at which a safe unit falls below maintenance, or null. Bounds that are
 * passed too early are recomputed, so the result does not depend on them. For bars (engine/tape).
 */
export function firstDanger(state: State, market: Market, to: PriceTicks): PriceTicks | null {
  const from = mustMark(market);
  testMarked(state);
  for (;;) {
    const { safeFrom, safeTo } = market.liquidation;
    const next = priceTicks(to > from ? safeTo + 1 : safeFrom - 1);
    if (to > from ? next > to : next < to) return null;
    market.markTicks = next;
    const found = endangers(state, market, next);
    market.markTicks = from;
    if (found) return next;
  }
}

/** Safe marked subaccounts get bounds; a liquidation in progress continues. */
function testMarked(state: State): void {
  for (const subaccount of state.drainRiskChecks()) {
    if (subaccount.role === 'house') continue;
    let isMarked = subaccount.clearingDebt > 0n;
    for (const unit of unitsOf(state, subaccount)) {
      const figures = unit.figures(state);
      if (isUnderWay(unit) || isBelowMaintenance(figures)) isMarked = true;
      else setBounds(state, unit, figures);
    }
    if (isMarked) state.markForRiskCheck(subaccount);
  }
}

/** Whether this mark endangers a unit. Endangered units are marked, others get new bounds. */
function endangers(state: State, market: Market, mark: PriceTicks): boolean {
  let found = false;
  for (;;) {
    const exposure = market.liquidation.takeEndangered(mark);
    if (exposure === undefined) return found;
    const subaccount = state.subaccount(exposure.subaccount);
    const unit = new RiskUnit(subaccount, exposure.isolated ? exposure : null);
    const figures = unit.figures(state);
    if (isBelowMaintenance(figures)) {
      state.markForRiskCheck(subaccount);
      found = true;
    } else setBounds(state, unit, figures);
  }
}
