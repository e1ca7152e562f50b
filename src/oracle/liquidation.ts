/**
 * Liquidation (R-6.1, R-6.2, D-30, D-31). Scans all units and handles those below maintenance in
 * order of danger, until no further step is possible. Frozen positions wait; fresh ones never do.
 */
import { handOver, isFlat, repayDebts } from './clearing.ts';
import { settleConsequences } from './consequences.ts';
import { bankruptcyPrice, engineLimit, sellOnBook, shareOf } from './engine-orders.ts';
import { beginLiquidation, cancelOrders, emitStep } from './ladder-steps.ts';
import { atSettlement, valueOf } from './margin.ts';
import { abs, min, shareUp } from './numbers.ts';
import type { Ranks } from './ranks.ts';
import {
  equityOf,
  freshMarketsOf,
  isBelow,
  maintenanceOfUnit,
  marketsOf,
  mostEndangeredFirst,
  unitsOf,
  type Unit,
} from './risk-units.ts';
import { runTriggers } from './triggers.ts';
import { positionOf, type Market, type Sub, type World } from './world.ts';

/** Units with a position in the market. */
export const unitsIn = (world: World, market: Market): Unit[] =>
  unitsOf(world).filter((unit) => marketsOf(world, unit).includes(market));

/** Neither below maintenance nor in liquidation. */
export const isSafe =
  (world: World) =>
  (unit: Unit): boolean =>
    !isBelow(world, unit) &&
    marketsOf(world, unit).every(({ id }) => positionOf(unit.sub, id).began === 0n);

/** Whether one of them is below maintenance at this mark. */
export function dangerAt(
  world: World,
  market: Market,
  mark: bigint,
  units: readonly Unit[],
): boolean {
  const { mark: now } = market;
  market.mark = mark;
  const found = units.some((unit) => isBelow(world, unit));
  market.mark = now;
  return found;
}

/** Liquidations, and the triggers that they fire, until neither endangers a unit. */
export function liquidateAll(world: World): void {
  do {
    runLiquidations(world);
    runTriggers(world);
  } while (world.danger);
}

function runLiquidations(world: World): void {
  repayDebts(world);
  const outer = world.cause;
  for (let acted = false; acted || world.danger;) {
    world.danger = false;
    acted = false;
    const ranks: Ranks = new Map();
    const below = unitsOf(world).filter((unit) => {
      if (isBelow(world, unit)) return true;
      noteSafe(world, unit);
      return false;
    });
    for (const unit of mostEndangeredFirst(world, below)) {
      if (liquidate(world, unit, ranks)) acted = true;
    }
    settleConsequences(world);
  }
  world.cause = outer;
}

/** A liquidation ends when its owner is safe (D-31). */
function noteSafe(world: World, unit: Unit): void {
  for (const market of marketsOf(world, unit)) {
    const position = positionOf(unit.sub, market.id);
    if (position.began === 0n) continue;
    position.began = 0n;
    position.resumesAt = 0n;
    emitStep(world, unit, { step: 'safe', market: market.id });
  }
}

/** Executes all steps that are possible now; returns whether any was. */
function liquidate(world: World, unit: Unit, ranks: Ranks): boolean {
  if (!isBelow(world, unit)) return false;
  // All consequences of a liquidation have it as cause, also for other accounts.
  world.cause = 'liquidation';
  if (isFlat(world, unit)) {
    handOver(world, unit, ranks);
    return true;
  }
  const fresh = freshMarketsOf(world, unit);
  const isUnderWay = marketsOf(world, unit).every(
    ({ id }) => positionOf(unit.sub, id).began !== 0n,
  );
  // While all positions are frozen, orders are cancelled once; later reducing orders may stay.
  if (fresh.length === 0 && isUnderWay) return false;
  const cancelled = cancelOrders(world, unit);
  beginLiquidation(world, unit);
  if (fresh.length === 0) return cancelled;
  const positions = fresh.map((market) => positionOf(unit.sub, market.id));
  const paused = positions.some(({ resumesAt }) => resumesAt > world.now);
  if (
    equityOf(world, unit, atSettlement) >= 0n &&
    3n * equityOf(world, unit) >= 2n * maintenanceOfUnit(world, unit)
  ) {
    if (paused) return cancelled;
    if (sellLargestFirst(world, unit) !== 'stuck') return true;
    // The book may have closed all fresh positions.
    if (!isBelow(world, unit) || freshMarketsOf(world, unit).length === 0) return true;
  }
  handOver(world, unit, ranks);
  return true;
}

/** Step 2. */
function sellLargestFirst(world: World, unit: Unit): 'safe' | 'paused' | 'stuck' {
  const notional = (market: Market): bigint =>
    valueOf(market, abs(positionOf(unit.sub, market.id).lots));
  const largestFirst = freshMarketsOf(world, unit).sort((a, b) =>
    notional(a) === notional(b) ? a.id - b.id : notional(a) > notional(b) ? -1 : 1,
  );
  for (const market of largestFirst) {
    if (!isBelow(world, unit)) return 'safe';
    const position = positionOf(unit.sub, market.id);
    const size = sliceOf(world, unit.sub, market);
    const isWhole = size === abs(position.lots);
    const share = shareOf(world, unit, market);
    emitStep(world, unit, {
      step: 'order',
      market: market.id,
      lots: position.lots > 0n ? -size : size,
      limitTicks: engineLimit(world, unit.sub, market, share),
      bankruptcyTicks: bankruptcyPrice(unit.sub, market, share),
    });
    const left = sellOnBook(world, unit.sub, market, share, size);
    if (!isBelow(world, unit)) return 'safe';
    if (left > 0n) return 'stuck';
    if (!isWhole) {
      position.resumesAt = world.now + BigInt(world.config.liquidationPauseUs);
      world.pauses.push({ end: position.resumesAt, position });
      return 'paused';
    }
  }
  return 'stuck';
}

/** A fifth of the size at the start of the liquidation, if that was above the limit. */
function sliceOf(world: World, sub: Sub, market: Market): bigint {
  const { partialLiquidationNotional, liquidationSlicePpm } = world.config;
  const { lots, began } = positionOf(sub, market.id);
  if (valueOf(market, began) <= partialLiquidationNotional) return abs(lots);
  return min(abs(lots), shareUp(began * BigInt(liquidationSlicePpm), 1_000_000n));
}
