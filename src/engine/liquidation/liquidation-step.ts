/**
 * Liquidation steps as events, the first step, and credits to the unit being liquidated.
 */
import { lots, quanta, type Lots, type PriceTicks } from '../../num/units.ts';
import { creditMargin } from '../accounts/isolated-ledger.ts';
import { credit } from '../accounts/ledger.ts';
import type { LedgerReason, LiquidationStep } from '../events.ts';
import { hashLiquidationStep } from '../chain-hash/hash-event.ts';
import { endOrder } from '../orders/end.ts';
import { ownedOrders } from '../orders/owned-orders.ts';
import type { State } from '../state.ts';
import type { RiskFigures, RiskUnit } from '../margin/risk-unit.ts';

type StepFields = Pick<LiquidationStep, 'step'> &
  Partial<
    Pick<
      LiquidationStep,
      'market' | 'lots' | 'limitTicks' | 'bankruptcyTicks' | 'amountQuanta' | 'orders'
    >
  >;

export function emitStep(
  state: State,
  unit: RiskUnit,
  figures: RiskFigures,
  step: StepFields,
): void {
  const none: { lots: Lots; ticks: PriceTicks | null } = { lots: lots(0), ticks: null };
  const { context } = state;
  context.emit(hashLiquidationStep, {
    kind: 'liquidationStep',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    subaccount: unit.subaccount.id,
    isolated: unit.isolated !== null,
    step: step.step,
    market: step.market ?? unit.market,
    equityQuanta: quanta(figures.equity),
    maintenanceQuanta: quanta(figures.maintenance),
    orders: step.orders ?? 0,
    lots: step.lots ?? none.lots,
    limitTicks: step.limitTicks ?? none.ticks,
    bankruptcyTicks: step.bankruptcyTicks ?? none.ticks,
    amountQuanta: step.amountQuanta ?? quanta(0n),
  });
}

/** Step 1: cancels the open orders of the unit; returns whether there were any. */
export function cancelOrders(state: State, unit: RiskUnit, figures: RiskFigures): boolean {
  const slots = ownedOrders(state, unit.subaccount, unit.market);
  if (slots.length === 0) return false;
  emitStep(state, unit, figures, { step: 'cancelOrders', orders: slots.length });
  for (const slot of slots) endOrder(state, slot, 'cancelled', 'liquidation');
  return true;
}

/** Records all sizes at the start of a liquidation; returns whether it starts for any position. */
export function beginLiquidation(unit: RiskUnit): boolean {
  let begins = false;
  for (const exposure of unit.positions()) {
    if (exposure.liquidationLots !== 0) continue;
    exposure.liquidationLots = Math.abs(exposure.positionLots);
    begins = true;
  }
  return begins;
}

/** Adds a signed amount to the cash of the unit, or to its margin. */
export function creditUnit(
  state: State,
  unit: RiskUnit,
  amount: bigint,
  reason: LedgerReason,
): void {
  if (unit.isolated === null) credit(state, unit.subaccount, quanta(amount), reason);
  else creditMargin(state, unit.isolated, amount, reason);
}
