/** Common parts of the liquidation steps: events, order ends, credits. */
import type { LedgerReason, LiquidationStep } from '../engine/events.ts';
import { end } from './endings.ts';
import { abs } from './numbers.ts';
import { equityOf, maintenanceOfUnit, marketsOf, type Unit } from './risk-units.ts';
import { book, bookMargin, isLive, positionOf, emit, type World } from './world.ts';

type Step = Partial<
  Pick<LiquidationStep, 'orders'> & {
    lots: bigint;
    market: number;
    limitTicks: bigint;
    bankruptcyTicks: bigint;
    amountQuanta: bigint;
  }
> &
  Pick<LiquidationStep, 'step'>;

/** Emits a step, with equity and maintenance before it. */
export function emitStep(world: World, unit: Unit, step: Step): void {
  world.touched.add(unit.sub.id);
  emit(world, {
    kind: 'liquidationStep',
    subaccount: unit.sub.id,
    isolated: unit.isolated !== null,
    step: step.step,
    market: step.market ?? unit.isolated?.id ?? null,
    equityQuanta: equityOf(world, unit),
    maintenanceQuanta: maintenanceOfUnit(world, unit),
    orders: step.orders ?? 0,
    lots: step.lots ?? 0n,
    limitTicks: step.limitTicks ?? null,
    bankruptcyTicks: step.bankruptcyTicks ?? null,
    amountQuanta: step.amountQuanta ?? 0n,
  });
}

/** Step 1; returns whether there were any orders. */
export function cancelOrders(world: World, unit: Unit): boolean {
  const orders = world.live.filter(
    ({ sub, market }) =>
      sub === unit.sub.id && (unit.isolated === null || market === unit.isolated.id),
  );
  if (orders.length === 0) return false;
  emitStep(world, unit, { step: 'cancelOrders', orders: orders.length });
  for (const order of orders) if (isLive(order)) end(world, order, 'cancelled', 'liquidation');
  return true;
}

/** Slices are parts of the size at the start of the liquidation. */
export function beginLiquidation(world: World, unit: Unit): void {
  for (const market of marketsOf(world, unit)) {
    const position = positionOf(unit.sub, market.id);
    if (position.began === 0n) position.began = abs(position.lots);
  }
}

/** Credits a unit: its cash, or the margin of its isolated position. */
export function bookUnit(world: World, unit: Unit, amount: bigint, reason: LedgerReason): void {
  if (unit.isolated === null) book(world, unit.sub, amount, reason);
  else bookMargin(world, unit.sub, unit.isolated.id, amount, reason);
}
