/**
 * Clearing of units below zero (R-6.2, steps 4 and 5). Insurance pays within its limits. The vault
 * takes the positions if that lifts the unit to 0; otherwise they close against the ranked holders
 * of the other side. The rest goes to the shortfall.
 *
 * Termination: a take-over removes fresh positions from a unit that is not the vault;
 * auto-deleveraging lowers Σ |lots| of the unit and of its parties and raises no position. So (Σ
 * |lots| without the vault, Σ |lots| of the vault) falls with every clearing.
 */
import { maxBig, minBig } from '../../num/arithmetic.ts';
import { notional, ppmOfCeil } from '../../num/notional.ts';
import { lots, quanta } from '../../num/units.ts';
import { credit } from '../accounts/ledger.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { settleFollowUps } from '../orders/pending-effects.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { Ranks } from './adl.ts';
import {
  layDeficit,
  planClearing,
  planInsurance,
  type ClearingPlan,
  type PlanParty,
  type PlanPosition,
  type PlanUnit,
} from './clearing-plan.ts';
import { findEndangered } from './endangered.ts';
import { insuranceAllowance, payFromInsurance, type InsurancePart } from './insurance.ts';
import { beginLiquidation, cancelOrders, creditUnit, emitStep } from './liquidation-step.ts';
import { transferPosition } from './position-transfer.ts';
import { maintenanceOf, mustMark } from '../margin/requirement.ts';
import { inOrderOfDanger, isBelowMaintenance, RiskUnit, unitOf } from '../margin/risk-unit.ts';
import { moveInStep, settlementTicks } from '../pricing/settlement-price.ts';
import { chargeShortfall } from './shortfall.ts';
import { planSettledTakeover, takeOver } from './takeover.ts';

/** Phase A, before triggers: clears units below zero and settles debts without positions. */
export function clearBelowZero(state: State): void {
  const { context } = state;
  const outer = context.cause;
  for (;;) {
    const ranks = new Ranks(state);
    let acted = false;
    const below = findEndangered(state, false).filter(({ unit }) => isBelowZero(state, unit));
    for (const { unit } of below.sort(inOrderOfDanger)) {
      if (clearIfBelowZero(state, unit, ranks)) acted = true;
    }
    settleFollowUps(state);
    // A clearing may have endangered its parties.
    if (!acted) break;
  }
  context.cause = outer;
}

/** Liquidatable and negative at settlement prices. Frozen positions wait. */
function isBelowZero(state: ExchangeState, unit: RiskUnit): boolean {
  if (!isBelowMaintenance(unit.figures(state))) return false;
  if (unit.equityAt(state, settlementTicks) >= 0n) return false;
  return unit.positions().length === 0 || unit.freshPositions(state).length > 0;
}

function clearIfBelowZero(state: State, unit: RiskUnit, ranks: Ranks): boolean {
  if (!isBelowZero(state, unit)) return false;
  state.context.cause = 'liquidation';
  cancelOrders(state, unit, unit.figures(state));
  beginLiquidation(unit);
  if (unit.positions().length === 0) return settleFlatDebt(state, unit);
  clearUnit(state, unit, ranks);
  return true;
}

/** Steps 4 and 5 for a unit with fresh positions. */
export function clearUnit(state: State, unit: RiskUnit, ranks: Ranks): void {
  const equity = unit.equityAt(state, settlementTicks);
  if (equity >= 0n) {
    closeAgainstHolders(state, unit, equity, ranks);
    return;
  }
  const deficit = -equity;
  if (
    unit.isolated === null &&
    unit.positions().some(({ market }) => state.market(market).frozen)
  ) {
    const { subaccount } = unit;
    subaccount.clearingDebt = quanta(subaccount.clearingDebt + deficit);
  }
  const paid = liftUnit(state, unit, deficit);
  const taken = paid === deficit ? planSettledTakeover(state, unit) : null;
  if (taken === null) closeAgainstHolders(state, unit, paid - deficit, ranks);
  else {
    emitStep(state, unit, unit.figures(state), { step: 'takeover' });
    takeOver(state, taken);
  }
}

/** Step 4: insurance pays the deficit within its limits; returns the amount. */
function liftUnit(state: State, unit: RiskUnit, deficit: bigint): bigint {
  const exposures = unit.freshPositions(state);
  const positions = exposures.map((exposure) => planPosition(state, exposure, []));
  const total = insuranceAllowance(state, null);
  const parts = planInsurance(layDeficit(deficit, positions), positions, total);
  const paid = parts.reduce((sum, part) => sum + part, 0n);
  if (paid === 0n) return 0n;
  emitStep(state, unit, unit.figures(state), { step: 'insurance', amountQuanta: quanta(paid) });
  payFromInsurance(state, partsOf(state, exposures, parts));
  creditUnit(state, unit, paid, 'insurance');
  return paid;
}

function partsOf(
  state: ExchangeState,
  exposures: readonly Exposure[],
  parts: readonly bigint[],
): InsurancePart[] {
  return exposures.map(({ market }, i) => ({
    market: state.market(market),
    amount: parts[i] ?? 0n,
  }));
}

/** Step 5: closes the fresh positions; `equity` is at settlement prices, after insurance. */
function closeAgainstHolders(state: State, unit: RiskUnit, equity: bigint, ranks: Ranks): void {
  const exposures = unit.freshPositions(state);
  const parties = exposures.map((exposure) => partiesOf(state, exposure, ranks));
  const units = new Map<Subaccount | Exposure, PlanUnit>();
  const positions = exposures.map((exposure, i) =>
    planPosition(
      state,
      exposure,
      (parties[i] ?? []).map((party) => planParty(state, party, units)),
    ),
  );
  // A gain in a frozen market may be lost at the thaw: it pays no fee.
  const payable = unit.admissionEquity(state, settlementTicks);
  const plan = planClearing(equity, positions, insuranceAllowance(state, null), payable);
  const { context } = state;
  const outer = context.cause;
  const figures = unit.figures(state);
  emitStep(state, unit, figures, { step: 'adl', amountQuanta: quanta(equity) });
  context.cause = 'adl';
  payPlan(state, unit, exposures, plan);
  const closed: Exposure[] = [];
  for (const { position, party, lots: size, charge, relief } of plan.closings) {
    const from = exposures[position];
    const to = parties[position]?.[party];
    if (from === undefined || to === undefined) continue;
    transferPosition(state, from, to, {
      lots: lots(from.positionLots > 0 ? size : -size),
      priceTicks: settlementTicks(state.market(from.market)),
      money: relief - charge,
      reason: 'adl',
    });
    closed.push(to);
  }
  for (const exposure of closed) settleFlatDebt(state, unitOf(state, exposure));
  context.cause = outer;
}

/** Moves the plan's fees, insurance and shortfall money, before the positions change. */
function payPlan(
  state: State,
  unit: RiskUnit,
  exposures: readonly Exposure[],
  { fees, insurance, shortfall }: ClearingPlan,
): void {
  const insured = insurance.reduce((sum, part) => sum + part, 0n);
  if (insured > 0n) {
    const amountQuanta = quanta(insured);
    emitStep(state, unit, unit.figures(state), { step: 'insurance', amountQuanta });
    payFromInsurance(state, partsOf(state, exposures, insurance));
    creditUnit(state, unit, insured, 'insurance');
  }
  if (shortfall > 0n) {
    const amountQuanta = quanta(shortfall);
    emitStep(state, unit, unit.figures(state), { step: 'shortfall', amountQuanta });
    chargeShortfall(state, shortfall);
    creditUnit(state, unit, shortfall, 'shortfall');
  }
  for (const fee of fees) {
    creditUnit(state, unit, -fee, 'liquidationFee');
    credit(state, state.insurance, quanta(fee), 'liquidationFee');
  }
}

/** Holders of the other side in rank order, until the position is covered. */
function partiesOf(state: ExchangeState, exposure: Exposure, ranks: Ranks): Exposure[] {
  const market = state.market(exposure.market);
  const parties: Exposure[] = [];
  let open = Math.abs(exposure.positionLots);
  for (const holder of ranks.holders(market, exposure.positionLots > 0 ? -1 : 1)) {
    if (open <= 0) break;
    parties.push(holder);
    open -= Math.abs(holder.positionLots);
  }
  return parties;
}

function planParty(
  state: ExchangeState,
  exposure: Exposure,
  units: Map<Subaccount | Exposure, PlanUnit>,
): PlanParty {
  const unit = unitOf(state, exposure);
  const key = unit.isolated ?? unit.subaccount;
  let planUnit = units.get(key);
  if (planUnit === undefined) {
    const isHouse = unit.subaccount.role === 'house';
    planUnit = { equity: isHouse ? 0n : unit.admissionEquity(state), isHouse };
    units.set(key, planUnit);
  }
  return { unit: planUnit, lots: Math.abs(exposure.positionLots) };
}

function planPosition(
  state: State,
  exposure: Exposure,
  parties: readonly PlanParty[],
): PlanPosition {
  const market = state.market(exposure.market);
  const size = Math.abs(exposure.positionLots);
  const side = exposure.positionLots > 0 ? 1 : -1;
  const { quantaPerTickLot } = market.spec;
  const markTicks = mustMark(market);
  const settleTicks = settlementTicks(market);
  const tickLot = BigInt(quantaPerTickLot);
  const worth = notional(lots(size), settleTicks, quantaPerTickLot);
  // The owner ends no better than at the mark.
  const advantage = BigInt(size) * BigInt(side * (settleTicks - markTicks)) * tickLot;
  return {
    side,
    lots: size,
    tickLot,
    markTicks,
    settleTicks,
    settleMove: moveInStep(state, market),
    maintenance: maintenanceOf(market, size),
    value: notional(lots(size), markTicks, quantaPerTickLot),
    fee: maxBig(ppmOfCeil(worth, state.config.liquidationFeePpm), advantage),
    allowance: insuranceAllowance(state, market),
    parties,
  };
}

/** Settles a debt without a position from insurance, then the shortfall; true if there was one. */
export function settleFlatDebt(state: State, unit: RiskUnit): boolean {
  const { role } = unit.subaccount;
  if (role === 'house' || role === 'shortfall') return false;
  if (unit.balance >= 0n || unit.positions().length > 0) return false;
  const debt = -unit.balance;
  const market = unit.market === null ? null : state.market(unit.market);
  const paid = minBig(debt, insuranceAllowance(state, market));
  const unpaid = debt - paid;
  if (paid > 0n) {
    emitStep(state, unit, unit.figures(state), { step: 'insurance', amountQuanta: quanta(paid) });
    payFromInsurance(state, [{ market, amount: paid }]);
    creditUnit(state, unit, paid, 'insurance');
  }
  if (unpaid > 0n) {
    const amountQuanta = quanta(unpaid);
    emitStep(state, unit, unit.figures(state), { step: 'shortfall', amountQuanta });
    chargeShortfall(state, unpaid);
    creditUnit(state, unit, unpaid, 'shortfall');
  }
  return true;
}

/** Settles every debt without a position, by a scan; for delisting. */
export function settleFlatDebts(state: State): void {
  for (const subaccount of state.accounts.subaccounts) {
    settleFlatDebt(state, new RiskUnit(subaccount, null));
    for (const exposure of subaccount.exposures) {
      if (exposure?.isolated === true) settleFlatDebt(state, new RiskUnit(subaccount, exposure));
    }
  }
}
