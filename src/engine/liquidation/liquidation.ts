/**
 * Liquidation. After a mark or a funding settlement, possibly endangered units are
 * tested. The most endangered is handled first and retested just before.
 *
 * The steps: cancel orders; sell on the book; transfer to the vault; insurance; auto-deleveraging.
 * Every step is an event with its numbers. Steps act on positions in markets that are not frozen
 * and never wait for the others. A unit in a pause between slices stays marked for a risk check and
 * is retested at the next mark. One that has only frozen positions is retested at their thaw, or
 * when it changes.
 *
 * Units below zero at settlement prices are cleared before triggers run (Phase A,
 * liquidation/clearing.ts). This file is Phase B, after triggers.
 */
import { lots, PPM, quanta, subaccountId, timeUs } from '../../num/units.ts';
import { ceilDivBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import { settleFollowUps } from '../orders/pending-effects.ts';
import { runTriggers } from '../orders/triggers.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { Ranks } from './adl.ts';
import { bankruptcyTicks, equityShare } from './bankruptcy.ts';
import { clearUnit, settleFlatDebt } from './clearing.ts';
import { findEndangered } from './endangered.ts';
import { engineLimit, sendEngineOrder } from './liquidation-order.ts';
import { beginLiquidation, cancelOrders, emitStep } from './liquidation-step.ts';
import { mustMark } from '../margin/requirement.ts';
import {
  inOrderOfDanger,
  isBelowMaintenance,
  RiskUnit,
  type RiskFigures,
} from '../margin/risk-unit.ts';
import { settlementTicks } from '../pricing/settlement-price.ts';
import { planTakeover, takeOver, takeoverOf } from './takeover.ts';

/**
 * End of the earliest pause between slices. Pauses whose liquidation is over are dropped: a
 * restored exchange does not know of them.
 */
export function nextLiquidationUs(state: ExchangeState): number {
  const { liquidationPauses: pauses } = state;
  while (pauses.size > 0 && !isPausing(state, pauses.topKey(), pauses.topTime())) pauses.pop();
  return pauses.topTime();
}

function isPausing(state: ExchangeState, subaccount: number, untilUs: number): boolean {
  const { exposures } = state.subaccount(subaccountId(subaccount));
  return exposures.some((exposure) => exposure?.liquidationResumesUs === untilUs);
}

/** A check of all endangered units is due when a pause ends. */
export function resumeLiquidations(state: State): void {
  while (nextLiquidationUs(state) <= state.nowUs) {
    state.liquidationPauses.pop();
    state.context.due.riskCheck = true;
  }
}

export function runLiquidations(state: State): void {
  const { context } = state;
  const outer = context.cause;
  // A trigger that a liquidation fires may make another check due.
  while (context.due.riskCheck) {
    liquidateEndangered(state);
    context.cause = outer;
    if (context.due.anyRepriced) runTriggers(state);
  }
}

/** Passes over all endangered units until one acts on none. */
function liquidateEndangered(state: State): void {
  let acted: boolean;
  do {
    state.context.due.riskCheck = false;
    acted = false;
    const endangered = findEndangered(state, true).sort(inOrderOfDanger);
    const ranks = new Ranks(state);
    for (const { unit } of endangered) {
      if (liquidate(state, unit, ranks)) acted = true;
    }
    settleFollowUps(state);
    // A step may have endangered others: the parties of an auto-deleveraging.
  } while (acted);
}

/** Executes all steps that are possible now; returns whether any was. */
function liquidate(state: State, unit: RiskUnit, ranks: Ranks): boolean {
  const figures = unit.figures(state);
  if (!isBelowMaintenance(figures)) return false;
  state.context.cause = 'liquidation';
  if (unit.positions().length === 0) return settleFlatDebt(state, unit);
  const begins = beginLiquidation(unit);
  const fresh = unit.freshPositions(state);
  if (fresh.length === 0) return begins && cancelOrders(state, unit, figures);
  const cancelled = cancelOrders(state, unit, figures);
  if (unit.equityAt(state, settlementTicks) < 0n) {
    clearUnit(state, unit, ranks);
    return true;
  }
  if (bookSuffices(figures)) {
    const pausedUntilUs = Math.max(...fresh.map((exposure) => exposure.liquidationResumesUs));
    if (pausedUntilUs > state.nowUs) return cancelled;
    if (sellOnBook(state, unit)) return true;
  }
  resolve(state, unit, ranks);
  return true;
}

/** With at least two thirds of the requirement, the book precedes vault and auto-deleveraging. */
function bookSuffices({ equity, maintenance }: RiskFigures): boolean {
  return equity * 3n >= maintenance * 2n;
}

/** Units below maintenance that wait neither for a thaw nor a pause; full scan, for invariants. */
export function liquidatable(state: ExchangeState): number[] {
  const found: number[] = [];
  for (const subaccount of state.accounts.subaccounts) {
    if (subaccount.role === 'house' || subaccount.role === 'shortfall') continue;
    for (const unit of [null, ...subaccount.exposures.filter((e) => e?.isolated === true)]) {
      if (isOverdue(state, new RiskUnit(subaccount, unit ?? null))) found.push(subaccount.id);
    }
  }
  return found;
}

function isOverdue(state: ExchangeState, unit: RiskUnit): boolean {
  const figures = unit.figures(state);
  if (!isBelowMaintenance(figures)) return false;
  if (unit.positions().length === 0) return true;
  const fresh = unit.freshPositions(state);
  if (fresh.length === 0) return false;
  const waits = fresh.some((exposure) => exposure.liquidationResumesUs > state.nowUs);
  return !waits || !bookSuffices(figures) || unit.equityAt(state, settlementTicks) < 0n;
}

/**
 * Step 2: sells the largest position first, large ones in slices. Returns whether the unit is safe
 * or waits for its next slice; otherwise the book does not suffice.
 */
function sellOnBook(state: State, unit: RiskUnit): boolean {
  for (const exposure of byNotional(state, unit)) {
    const figures = unit.figures(state);
    // A gain in a frozen market may be lost at the thaw: it covers no loss against the mark.
    const share = equityShare(state, unit, unit.admissionEquity(state), exposure);
    const size = sliceOf(state, exposure);
    const whole = size === Math.abs(exposure.positionLots);
    emitStep(state, unit, figures, {
      step: 'order',
      market: exposure.market,
      lots: lots(exposure.positionLots > 0 ? -size : size),
      limitTicks: engineLimit(state, exposure, share),
      bankruptcyTicks: bankruptcyTicks(state, exposure, share),
    });
    const left = sendEngineOrder(state, exposure, share, size);
    if (!isBelowMaintenance(unit.figures(state))) return true;
    if (left > 0) return false;
    if (!whole) {
      const resumesUs = timeUs(state.nowUs + state.config.liquidationPauseUs);
      exposure.liquidationResumesUs = resumesUs;
      state.liquidationPauses.push(resumesUs, exposure.subaccount);
      return true;
    }
  }
  return false;
}

function byNotional(state: ExchangeState, unit: RiskUnit): Exposure[] {
  return unit
    .freshPositions(state)
    .map((exposure) => ({ exposure, value: valueOf(state, exposure, exposure.positionLots) }))
    .sort((a, b) =>
      a.value === b.value ? a.exposure.market - b.exposure.market : a.value > b.value ? -1 : 1,
    )
    .map(({ exposure }) => exposure);
}

function valueOf(state: ExchangeState, exposure: Exposure, size: number): bigint {
  const market = state.market(exposure.market);
  return notional(lots(Math.abs(size)), mustMark(market), market.spec.quantaPerTickLot);
}

/** Lots to sell now: a slice of the size at the liquidation's start, if above the limit. */
function sliceOf(state: ExchangeState, exposure: Exposure): number {
  const { partialLiquidationNotional, liquidationSlicePpm } = state.config;
  const size = Math.abs(exposure.positionLots);
  const began = exposure.liquidationLots;
  if (valueOf(state, exposure, began) <= partialLiquidationNotional) return size;
  const slice = Number(ceilDivBig(BigInt(began) * BigInt(liquidationSlicePpm), BigInt(PPM)));
  return Math.min(size, slice);
}

/** Steps 3 to 5, after the book. */
function resolve(state: State, unit: RiskUnit, ranks: Ranks): void {
  if (unit.freshPositions(state).length === 0) return;
  if (unit.equityAt(state, settlementTicks) >= 0n) {
    const equity = unit.equityAt(state, takeoverOf);
    const taken = planTakeover(state, unit, equity);
    if (taken !== null) {
      const figures = unit.figures(state);
      emitStep(state, unit, figures, { step: 'takeover', amountQuanta: quanta(equity) });
      takeOver(state, taken);
      return;
    }
  }
  clearUnit(state, unit, ranks);
}
