/** Deficits (R-6.2 (4), (5), R-6.6): clears units below zero, settles debts without positions. */
import { deleverage, leaveToShortfall } from './adl.ts';
import { settleConsequences } from './consequences.ts';
import { layDeficit, lossOf } from './deficits.ts';
import { beginLiquidation, cancelOrders, emitStep } from './ladder-steps.ts';
import { payByMarket } from './lift.ts';
import { admissionEquity, atMark, atSettlement, atTakeover } from './margin.ts';
import { max, min } from './numbers.ts';
import type { Ranks } from './ranks.ts';
import {
  equityOf,
  freshMarketsOf,
  isBelow,
  marketsOf,
  mostEndangeredFirst,
  unitOf,
  unitsOf,
  type Unit,
} from './risk-units.ts';
import { bookShortfall, missing } from './shortfall.ts';
import { takeOver } from './takeover.ts';
import {
  because,
  book,
  INSURANCE,
  isIsolated,
  subOf,
  type Market,
  type Sub,
  type World,
} from './world.ts';

export { nextPayDown, payShortfall } from './shortfall.ts';

/** Phase A: before triggers, clears units below zero at settlement prices. */
export function clearBelowZero(world: World): void {
  if (!world.danger) return;
  const outer = world.cause;
  for (let acted = true; acted;) {
    acted = false;
    const ranks: Ranks = new Map();
    const below = unitsOf(world).filter((unit) => isBelowZero(world, unit));
    for (const unit of mostEndangeredFirst(world, below)) {
      if (!isBelowZero(world, unit)) continue;
      world.cause = 'liquidation';
      acted = true;
      cancelOrders(world, unit);
      beginLiquidation(world, unit);
      handOver(world, unit, ranks);
    }
    settleConsequences(world);
  }
  world.cause = outer;
}

/** Liquidatable and negative at settlement prices; frozen positions wait. */
function isBelowZero(world: World, unit: Unit): boolean {
  if (!isBelow(world, unit) || equityOf(world, unit, atSettlement) >= 0n) return false;
  return isFlat(world, unit) || freshMarketsOf(world, unit).length > 0;
}

export const isFlat = (world: World, unit: Unit): boolean => marketsOf(world, unit).length === 0;

/**
 * Steps 3 to 5: vault, insurance, other side. A unit without positions only has its debt settled.
 */
export function handOver(world: World, unit: Unit, ranks: Ranks): void {
  if (isFlat(world, unit)) {
    settleDebt(world, unit);
    return;
  }
  const equity = equityOf(world, unit, atSettlement);
  if (equity < 0n) {
    cover(world, unit, ranks, -equity);
    return;
  }
  if (takeOver(world, unit, atTakeover, equityOf(world, unit, atTakeover))) return;
  closeAgainstOthers(world, unit, ranks, equity);
}

/** Steps 4 and 5 for a deficit. */
function cover(world: World, unit: Unit, ranks: Ranks, deficit: bigint): void {
  const fresh = freshMarketsOf(world, unit);
  // Payments of others while positions are frozen are a debt.
  if (marketsOf(world, unit).length > fresh.length) unit.sub.clearingDebt += deficit;
  const paid = payByMarket(world, unit, fresh, layDeficit(unit.sub, fresh, deficit));
  if (paid === deficit && takeOver(world, unit, atSettlement, 0n)) return;
  closeAgainstOthers(world, unit, ranks, paid - deficit);
}

/** Step 5; then settles units that it leaves flat and below zero. */
function closeAgainstOthers(world: World, unit: Unit, ranks: Ranks, behind: bigint): void {
  emitStep(world, unit, { step: 'adl', amountQuanta: behind });
  const units = marketsOf(world, unit).map((market) => unitOf(unit.sub, market));
  because(world, 'adl', () => {
    const parties = deleverage(world, unit, ranks, behind);
    const closed = parties.map(({ sub, market }) => unitOf(sub, market));
    for (const other of [...closed, ...units]) settleDebt(world, other);
  });
}

/** Settles all units without a position and below zero. */
export function settleFlatDebts(world: World): void {
  for (const unit of unitsOf(world)) settleDebt(world, unit);
}

function settleDebt(world: World, unit: Unit): void {
  const debt = -equityOf(world, unit);
  if (unit.sub.house || !isFlat(world, unit) || debt <= 0n) return;
  leaveToShortfall(world, unit, debt - payByMarket(world, unit, [unit.isolated], [debt]));
}

/** at a thaw a debtor repays; the rest is written off once nothing is frozen. */
export function repayDebts(world: World): void {
  const thawed = world.markets.filter(({ wasFrozen, frozen }) => wasFrozen && !frozen);
  for (const sub of world.subs) {
    if (sub.clearingDebt === 0n) continue;
    const held = marketsOf(world, { sub, isolated: null });
    const free = held.every(({ frozen }) => !frozen);
    if (free || held.some((market) => thawed.includes(market))) repay(world, sub, free);
  }
  for (const market of world.markets) market.wasFrozen = market.frozen;
}

function repay(world: World, sub: Sub, last: boolean): void {
  const equities = [atMark, atSettlement].map((at) => admissionEquity(world, sub, null, at));
  payBack(
    world,
    sub,
    equities.reduce((lowest, equity) => min(lowest, max(0n, equity)), sub.clearingDebt),
  );
  if (last) sub.clearingDebt = 0n;
}

/**
 * at the thaw of a market a debtor owes up to its loss there, which others have gained, less
 * its deficit.
 */
export function recallDebts(world: World, market: Market): void {
  for (const sub of world.subs) {
    if (sub.clearingDebt === 0n || isIsolated(sub, market.id)) continue;
    const deficit = max(0n, -equityOf(world, { sub, isolated: null }, atSettlement));
    const due = min(sub.clearingDebt, lossOf(sub, market) - deficit);
    if (due > 0n) payBack(world, sub, due);
  }
}

function payBack(world: World, sub: Sub, paid: bigint): void {
  const first = min(paid, missing(world));
  book(world, sub, -paid, 'insuranceRepaid');
  bookShortfall(world, first, 'insuranceRepaid');
  book(world, subOf(world, INSURANCE), paid - first, 'insuranceRepaid');
  sub.clearingDebt -= paid;
  if (paid > 0n) world.danger = true;
}
