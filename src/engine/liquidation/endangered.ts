/**
 * Which units are below maintenance now: subaccounts marked for a risk check, and those whose bound in the liquidation index a mark
 * has passed. The others get new bounds; the proof is in liquidation-index.ts.
 */
import { minBig } from '../../num/arithmetic.ts';
import { PPM, priceTicks, quanta, timeUs, type PriceTicks } from '../../num/units.ts';
import { credit } from '../accounts/ledger.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { emitStep } from './liquidation-step.ts';
import { mustMark } from '../margin/requirement.ts';
import { settlementTicks } from '../pricing/settlement-price.ts';
import { isBelowMaintenance, RiskUnit, type RiskFigures } from '../margin/risk-unit.ts';
import { repayShortfall } from './shortfall.ts';

export interface Endangered {
  readonly unit: RiskUnit;
  readonly figures: RiskFigures;
}

/**
 * Tests all that are marked or whose bound was passed; the endangered ones stay marked. With `endsLiquidations` a liquidation ends whose
 * owner is safe again; else that waits for Phase B.
 */
export function findEndangered(state: State, endsLiquidations: boolean): Endangered[] {
  for (const market of state.markets) {
    if (!market.liquidationDue) continue;
    market.liquidationDue = false;
    // A halt freezes a market that never had a mark, too.
    const mark = market.markTicks;
    for (; mark !== null;) {
      const exposure = market.liquidation.takeEndangered(mark);
      if (exposure === undefined) break;
      state.markForRiskCheck(state.subaccount(exposure.subaccount));
    }
  }
  const endangered: Endangered[] = [];
  const marked = state.drainRiskChecks().filter(({ role }) => role !== 'house');
  // After Phase A: what the unit gained at the thaw answers for the deficits of that step first.
  if (endsLiquidations) {
    for (const subaccount of marked) {
      if (subaccount.clearingDebt > 0n) repayClearingDebt(state, subaccount);
    }
    for (const market of state.markets) market.frozenAtCheck = market.frozen;
  }
  for (const subaccount of marked) {
    let isMarked = !endsLiquidations && subaccount.clearingDebt > 0n;
    for (const unit of unitsOf(state, subaccount)) {
      const figures = unit.figures(state);
      if (isBelowMaintenance(figures)) {
        endangered.push({ unit, figures });
        isMarked = true;
      } else if (!endsLiquidations && isUnderWay(unit)) isMarked = true;
      else setBounds(state, unit, figures);
    }
    if (isMarked) state.markForRiskCheck(subaccount);
  }
  return endangered;
}

const isUnderWay = (unit: RiskUnit): boolean =>
  unit.positions().some(({ liquidationLots }) => liquidationLots !== 0);

/**
 * What others paid for the deficit of a unit with frozen positions is repaid out of its equity when one of its markets thaws: to the
 * shortfall first, then to insurance. Once nothing is frozen the rest is written off.
 */
function repayClearingDebt(state: State, subaccount: Subaccount): void {
  const unit = new RiskUnit(subaccount, null);
  const markets = unit.positions().map(({ market }) => state.market(market));
  const isFrozen = markets.some(({ frozen }) => frozen);
  if (isFrozen && !markets.some(({ frozen, frozenAtCheck }) => frozenAtCheck && !frozen)) return;
  // Less at the worse of mark and settlement price: what is repaid must not leave a deficit there.
  const equity = minBig(unit.admissionEquity(state), unit.admissionEquity(state, settlementTicks));
  const repaid = equity > 0n ? minBig(equity, subaccount.clearingDebt) : 0n;
  subaccount.clearingDebt = isFrozen ? quanta(subaccount.clearingDebt - repaid) : quanta(0n);
  const toShortfall = minBig(repaid, -state.shortfall.cash);
  credit(state, subaccount, quanta(-repaid), 'insuranceRepaid');
  repayShortfall(state, toShortfall, 'insuranceRepaid');
  credit(state, state.insurance, quanta(repaid - toShortfall), 'insuranceRepaid');
}

function unitsOf(state: State, subaccount: Subaccount): RiskUnit[] {
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
 * The first mark on the way from the market's own to `to` at which a unit falls below maintenance that is safe now, or null. Bounds
 * that are passed too early are set again, so the answer does not depend on them. For bars (engine/tape).
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

/** Marked subaccounts that are safe get bounds; a liquidation that is under way stays as it is. */
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

/** Whether this mark endangers a unit whose bound it passes; such are marked, others get new bounds. */
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
