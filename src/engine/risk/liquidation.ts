/**
 * Liquidation. After a mark or a funding settlement those who may have fallen below maintenance are looked at; the
 * most endangered is handled first, each re-tested just before.
 *
 * The ladder: cancel orders; sell on the book; hand over to the vault; let insurance lift equity to zero; auto-deleverage. Every step
 * is an event with its numbers. Who cannot be dealt with now (a pause between slices, a stale index) stays unsure and is looked
 * at again with the next mark.
 */
import {
  lots,
  PPM,
  priceTicks,
  quanta,
  timeUs,
  type Lots,
  type PriceTicks,
} from '../../num/units.ts';
import { divCeil } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { creditMargin } from '../accounts/isolated-ledger.ts';
import { credit } from '../accounts/ledger.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { LiquidationStep } from '../events.ts';
import { hashLiquidationStep } from '../hash.ts';
import { endOrder } from '../orders/end.ts';
import { settleFollowUps } from '../orders/follow-ups.ts';
import { runTriggers } from '../orders/triggers.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { deleverage } from './adl.ts';
import { bankruptcyTicks, equityShare } from './bankruptcy.ts';
import { engineLimit, sendEngineOrder } from './liquidation-order.ts';
import { isFrozen } from './freshness.ts';
import { mustMark } from './requirement.ts';
import { inOrderOfDanger, isBelowMaintenance, RiskUnit, type RiskFigures } from './risk-unit.ts';
import { takeOver, vaultAffords } from './takeover.ts';

interface Endangered {
  readonly unit: RiskUnit;
  readonly figures: RiskFigures;
}

/** When the next pause between slices ends. */
export function nextLiquidationUs(state: State): number {
  return state.liquidationPauses.topTime();
}

/** Pauses that are over: those who waited are looked at again. */
export function resumeLiquidations(state: State): void {
  while (state.liquidationPauses.topTime() <= state.nowUs) {
    state.liquidationPauses.pop();
    state.liquidationDue = true;
  }
}

export function runLiquidations(state: State): void {
  if (!state.liquidationDue) return;
  state.liquidationDue = false;
  const outer = state.cause;
  for (;;) {
    const endangered = findEndangered(state).sort(inOrderOfDanger);
    let acted = false;
    for (const { unit } of endangered) {
      if (liquidate(state, unit)) acted = true;
    }
    settleFollowUps(state);
    // What was done may have endangered others: the parties of an auto-deleveraging.
    if (!acted) break;
  }
  state.cause = outer;
  if (state.triggersDue) runTriggers(state);
}

/**
 * The first mark on the way from the market's own to `to` at which somebody falls below maintenance who is safe now, or null. Bounds
 * that are passed too early are drawn anew, so what is found does not depend on how they were. For bars (engine/tape).
 */
export function firstDanger(state: State, market: Market, to: PriceTicks): PriceTicks | null {
  const from = mustMark(market);
  settleDoubts(state);
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

/** Who traded since all were looked at and is safe gets bounds; a liquidation that is under way stays as it is. */
function settleDoubts(state: State): void {
  for (const subaccount of state.takeUnsure()) {
    if (subaccount.role === 'house') continue;
    let doubtful = false;
    for (const unit of unitsOf(state, subaccount)) {
      const figures = unit.figures(state);
      const isUnderWay = unit.positions().some(({ liquidationLots }) => liquidationLots !== 0);
      if (isUnderWay || isBelowMaintenance(figures)) doubtful = true;
      else setBounds(state, unit, figures);
    }
    if (doubtful) state.doubt(subaccount);
  }
}

/** Whether this mark endangers somebody whose bound it passes; such are in doubt, others get new bounds. */
function endangers(state: State, market: Market, mark: PriceTicks): boolean {
  let found = false;
  for (;;) {
    const exposure = market.liquidation.takeEndangered(mark);
    if (exposure === undefined) return found;
    const subaccount = state.subaccount(exposure.subaccount);
    const unit = new RiskUnit(subaccount, exposure.isolated ? exposure : null);
    const figures = unit.figures(state);
    if (isBelowMaintenance(figures)) {
      state.doubt(subaccount);
      found = true;
    } else setBounds(state, unit, figures);
  }
}

/** Looks at all who are unsure or whose bound was passed; the safe ones get new bounds. */
function findEndangered(state: State): Endangered[] {
  for (const market of state.markets) {
    if (!market.liquidationDue) continue;
    market.liquidationDue = false;
    const mark = mustMark(market);
    for (;;) {
      const exposure = market.liquidation.takeEndangered(mark);
      if (exposure === undefined) break;
      state.doubt(state.subaccount(exposure.subaccount));
    }
  }
  const endangered: Endangered[] = [];
  const looked = state.takeUnsure();
  for (const subaccount of looked) {
    const before = endangered.length;
    examine(state, subaccount, endangered);
    if (endangered.length > before) state.doubt(subaccount);
  }
  return endangered;
}

function examine(state: State, subaccount: Subaccount, endangered: Endangered[]): void {
  if (subaccount.role === 'house') return;
  for (const unit of unitsOf(state, subaccount)) {
    const figures = unit.figures(state);
    if (isBelowMaintenance(figures)) endangered.push({ unit, figures });
    else setBounds(state, unit, figures);
  }
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
  const count = BigInt(positions.length);
  if (count === 0n) return;
  const slack = equity - maintenance - count;
  const share = slack > 0n ? slack / count : 0n;
  for (const exposure of positions) {
    if (exposure.liquidationLots !== 0) stopLiquidating(state, unit, exposure);
    const market = state.market(exposure.market);
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

/** Goes down the ladder as far as it leads now; answers whether anything was done. */
function liquidate(state: State, unit: RiskUnit): boolean {
  const figures = unit.figures(state);
  if (!isBelowMaintenance(figures)) return false;
  const positions = unit.positions();
  if (positions.some(({ market }) => isFrozen(state.market(market)))) return false;
  state.cause = 'liquidation';
  if (positions.length === 0) return liftFlat(state, unit, figures);
  for (const exposure of positions) {
    if (exposure.liquidationLots === 0) {
      exposure.liquidationLots = Math.abs(exposure.positionLots);
    }
  }
  const cancelled = cancelOrders(state, unit, figures);
  if (figures.equity * 3n >= figures.maintenance * 2n) {
    const pausedUntilUs = Math.max(...positions.map((exposure) => exposure.liquidationResumesUs));
    if (pausedUntilUs > state.nowUs) return cancelled;
    if (sellOnBook(state, unit) !== 'stuck') return true;
  }
  resolve(state, unit);
  return true;
}

/** A debt without positions (after an auto-deleveraging): insurance pays it when it can, else it stays. */
function liftFlat(state: State, unit: RiskUnit, figures: RiskFigures): boolean {
  if (unit.isolated !== null || state.insurance.cash < -figures.equity) return false;
  lift(state, unit, figures);
  return true;
}

/**
 * Subaccounts that should not be below maintenance but are, by a scan of all: those who wait for a price or a pause, and debts
 * without positions, are left out. For invariants; nothing in the engine scans.
 */
export function liquidatable(state: State): number[] {
  const found: number[] = [];
  for (const subaccount of state.accounts.subaccounts) {
    if (subaccount.role === 'house') continue;
    for (const unit of [null, ...subaccount.exposures.filter((e) => e?.isolated === true)]) {
      if (isOverdue(state, new RiskUnit(subaccount, unit ?? null))) found.push(subaccount.id);
    }
  }
  return found;
}

function isOverdue(state: State, unit: RiskUnit): boolean {
  const positions = unit.positions();
  const figures = unit.figures(state);
  if (positions.length === 0 || !isBelowMaintenance(figures)) return false;
  if (positions.some(({ market }) => isFrozen(state.market(market)))) return false;
  const waits = positions.some((exposure) => exposure.liquidationResumesUs > state.nowUs);
  return !(waits && figures.equity * 3n >= figures.maintenance * 2n);
}

/** Step 1. */
function cancelOrders(state: State, unit: RiskUnit, figures: RiskFigures): boolean {
  const table = state.orders;
  const slots: number[] = [];
  for (let slot = unit.subaccount.orders.head; slot !== NONE; slot = table.nextOfOwner(slot)) {
    if (unit.market === null || table.market(slot) === unit.market) slots.push(slot);
  }
  if (slots.length === 0) return false;
  emitStep(state, unit, figures, { step: 'cancelOrders', orders: slots.length });
  for (const slot of slots) endOrder(state, slot, 'cancelled', 'liquidation');
  return true;
}

/** Step 2: the largest position first, big ones in slices. */
function sellOnBook(state: State, unit: RiskUnit): 'safe' | 'paused' | 'stuck' {
  for (const exposure of byNotional(state, unit)) {
    const figures = unit.figures(state);
    if (!isBelowMaintenance(figures)) return 'safe';
    const share = equityShare(state, unit, figures.equity, exposure);
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
    if (!isBelowMaintenance(unit.figures(state))) return 'safe';
    if (left > 0) return 'stuck';
    if (!whole) {
      const resumesUs = timeUs(state.nowUs + state.config.liquidationPauseUs);
      exposure.liquidationResumesUs = resumesUs;
      state.liquidationPauses.push(resumesUs, exposure.subaccount);
      return 'paused';
    }
  }
  return isBelowMaintenance(unit.figures(state)) ? 'stuck' : 'safe';
}

function byNotional(state: State, unit: RiskUnit): Exposure[] {
  return unit
    .positions()
    .map((exposure) => ({ exposure, value: valueOf(state, exposure, exposure.positionLots) }))
    .sort((a, b) =>
      a.value === b.value ? a.exposure.market - b.exposure.market : a.value > b.value ? -1 : 1,
    )
    .map(({ exposure }) => exposure);
}

function valueOf(state: State, exposure: Exposure, size: number): bigint {
  const market = state.market(exposure.market);
  return notional(lots(Math.abs(size)), mustMark(market), market.spec.quantaPerTickLot);
}

/** Lots to sell now: a slice of what there was when liquidation began, when that was above the limit. */
function sliceOf(state: State, exposure: Exposure): number {
  const { partialLiquidationNotional, liquidationSlicePpm } = state.config;
  const size = Math.abs(exposure.positionLots);
  const began = exposure.liquidationLots;
  if (valueOf(state, exposure, began) <= partialLiquidationNotional) return size;
  const slice = Number(divCeil(BigInt(began) * BigInt(liquidationSlicePpm), BigInt(PPM)));
  return Math.min(size, slice);
}

/** Steps 3 to 5. */
function resolve(state: State, unit: RiskUnit): void {
  let figures = unit.figures(state);
  if (!isBelowMaintenance(figures)) return;
  if (figures.equity < 0n && state.insurance.cash >= -figures.equity) {
    lift(state, unit, figures);
    figures = unit.figures(state);
    if (unit.positions().length === 0) return;
  }
  const takes =
    figures.equity >= 0n &&
    unit.subaccount !== state.vault &&
    vaultAffords(state, unit, figures.equity);
  const step = takes ? 'takeover' : 'adl';
  emitStep(state, unit, figures, { step, amountQuanta: quanta(figures.equity) });
  if (takes) takeOver(state, unit, figures.equity);
  else {
    state.cause = 'adl';
    deleverage(state, unit, figures.equity);
    state.cause = 'liquidation';
  }
}

/** Step 4: insurance pays what is missing to an equity of 0. */
function lift(state: State, unit: RiskUnit, figures: RiskFigures): void {
  const amount = quanta(-figures.equity);
  emitStep(state, unit, figures, { step: 'insurance', amountQuanta: amount });
  credit(state, state.insurance, quanta(-amount), 'insurance');
  if (unit.isolated !== null) creditMargin(state, unit.isolated, amount, 'insurance');
  else credit(state, unit.subaccount, amount, 'insurance');
}

function emitStep(
  state: State,
  unit: RiskUnit,
  figures: RiskFigures,
  step: Pick<LiquidationStep, 'step'> &
    Partial<
      Pick<
        LiquidationStep,
        'market' | 'lots' | 'limitTicks' | 'bankruptcyTicks' | 'amountQuanta' | 'orders'
      >
    >,
): void {
  const none: { lots: Lots; ticks: PriceTicks | null } = { lots: lots(0), ticks: null };
  state.emit(hashLiquidationStep, {
    kind: 'liquidationStep',
    seq: state.seq,
    index: state.nextIndex(),
    timeUs: state.nowUs,
    cause: state.cause,
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
