/**
 * The ladder (R-6.1, R-6.2, D-29 to D-31). Everybody is looked at; who is below maintenance is handled in the order of danger, each tested
 * again just before, until nobody is left for whom anything can be done.
 */
import type { LiquidationStep } from '../../engine/events.ts';
import { deleverage } from './adl.ts';
import { settleConsequences } from './consequences.ts';
import { end } from './endings.ts';
import { bankruptcyPrice, engineLimit, sellOnBook, shareOf } from './engine-orders.ts';
import { isFrozen } from './mark.ts';
import { crossEquity, crossInitial, initialOfPosition, valueOf } from './margin.ts';
import { abs, max, min, shareUp, sum } from './numbers.ts';
import { equityOf, maintenanceOfUnit, marketsOf, type Unit } from './risk-units.ts';
import { transferPosition } from './transfers-of-positions.ts';
import {
  because,
  book,
  bookMargin,
  INSURANCE,
  isIsolated,
  isLive,
  positionOf,
  say,
  subOf,
  VAULT,
  type Market,
  type Sub,
  type World,
} from './world.ts';

const isBelow = (world: World, unit: Unit): boolean =>
  equityOf(world, unit) < maintenanceOfUnit(world, unit);

function unitsOf(world: World): Unit[] {
  return world.subs
    .filter(({ house }) => !house)
    .flatMap((sub) => [
      { sub, isolated: null },
      ...world.markets
        .filter(({ id }) => isIsolated(sub, id) && positionOf(sub, id).lots !== 0n)
        .map((isolated) => ({ sub, isolated })),
    ]);
}

/** Those with a position in the market. */
export const unitsIn = (world: World, market: Market): Unit[] =>
  unitsOf(world).filter((unit) => marketsOf(world, unit).includes(market));

/** Neither below maintenance nor being liquidated. */
export const isSafe =
  (world: World) =>
  (unit: Unit): boolean =>
    !isBelow(world, unit) &&
    marketsOf(world, unit).every(({ id }) => positionOf(unit.sub, id).began === 0n);

/** Whether one of them is below maintenance when the mark is this. */
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

export function runLiquidations(world: World): void {
  if (!world.danger) return;
  world.danger = false;
  const outer = world.cause;
  for (let acted = true; acted;) {
    acted = false;
    const below = unitsOf(world).filter((unit) => {
      if (isBelow(world, unit)) return true;
      noteSafe(world, unit);
      return false;
    });
    const ranked = below
      .map((unit) => ({
        unit,
        equity: equityOf(world, unit),
        maintenance: max(1n, maintenanceOfUnit(world, unit)),
      }))
      .sort((a, b) => {
        const order = a.equity * b.maintenance - b.equity * a.maintenance;
        if (order !== 0n) return order < 0n ? -1 : 1;
        // Cross positions before isolated ones, and these by market.
        return (
          a.unit.sub.id - b.unit.sub.id || (a.unit.isolated?.id ?? -1) - (b.unit.isolated?.id ?? -1)
        );
      });
    for (const { unit } of ranked) if (liquidate(world, unit)) acted = true;
    settleConsequences(world);
  }
  world.cause = outer;
}

/** A liquidation that is under way is over when its owner is safe (D-31). */
function noteSafe(world: World, unit: Unit): void {
  for (const market of marketsOf(world, unit)) {
    const position = positionOf(unit.sub, market.id);
    if (position.began === 0n) continue;
    position.began = 0n;
    position.resumesAt = 0n;
    sayStep(world, unit, { step: 'safe', market: market.id });
  }
}

/** As far down the ladder as it leads now; whether anything was done. */
function liquidate(world: World, unit: Unit): boolean {
  if (!isBelow(world, unit)) return false;
  const markets = marketsOf(world, unit);
  if (markets.some((market) => isFrozen(world, market))) return false;
  // All that follows from a liquidation is its doing, also for others.
  world.cause = 'liquidation';
  if (markets.length === 0) return payDebt(world, unit);
  const positions = markets.map((market) => positionOf(unit.sub, market.id));
  for (const position of positions) if (position.began === 0n) position.began = abs(position.lots);
  const cancelled = cancelOrders(world, unit);
  if (3n * equityOf(world, unit) >= 2n * maintenanceOfUnit(world, unit)) {
    if (positions.some(({ resumesAt }) => resumesAt > world.now)) return cancelled;
    if (sellLargestFirst(world, unit) !== 'stuck') return true;
  }
  handOver(world, unit);
  return true;
}

/** D-32: a debt without positions stays until insurance can pay it. */
function payDebt(world: World, unit: Unit): boolean {
  if (unit.isolated !== null || subOf(world, INSURANCE).cash < -equityOf(world, unit)) return false;
  lift(world, unit);
  return true;
}

/** Step 1 */
function cancelOrders(world: World, unit: Unit): boolean {
  const orders = world.live.filter(
    ({ sub, market }) =>
      sub === unit.sub.id && (unit.isolated === null || market === unit.isolated.id),
  );
  if (orders.length === 0) return false;
  sayStep(world, unit, { step: 'cancelOrders', orders: orders.length });
  for (const order of orders) if (isLive(order)) end(world, order, 'cancelled', 'liquidation');
  return true;
}

/** Step 2 */
function sellLargestFirst(world: World, unit: Unit): 'safe' | 'paused' | 'stuck' {
  const notional = (market: Market): bigint =>
    valueOf(market, abs(positionOf(unit.sub, market.id).lots));
  const largestFirst = marketsOf(world, unit).sort((a, b) =>
    notional(a) === notional(b) ? a.id - b.id : notional(a) > notional(b) ? -1 : 1,
  );
  for (const market of largestFirst) {
    if (!isBelow(world, unit)) return 'safe';
    const position = positionOf(unit.sub, market.id);
    const size = sliceOf(world, unit.sub, market);
    const isWhole = size === abs(position.lots);
    const share = shareOf(world, unit, market);
    sayStep(world, unit, {
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
      world.pauses.push(position.resumesAt);
      return 'paused';
    }
  }
  return 'stuck';
}

/** A fifth of what there was when liquidation began, if that was above the limit. */
function sliceOf(world: World, sub: Sub, market: Market): bigint {
  const { partialLiquidationNotional, liquidationSlicePpm } = world.config;
  const { lots, began } = positionOf(sub, market.id);
  if (valueOf(market, began) <= partialLiquidationNotional) return abs(lots);
  return min(abs(lots), shareUp(began * BigInt(liquidationSlicePpm), 1_000_000n));
}

/** Steps 3 to 5 */
function handOver(world: World, unit: Unit): void {
  if (!isBelow(world, unit)) return;
  const debt = -equityOf(world, unit);
  if (debt > 0n && subOf(world, INSURANCE).cash >= debt) lift(world, unit);
  const equity = equityOf(world, unit);
  const takes = equity >= 0n && unit.sub.id !== VAULT && vaultAffords(world, unit, equity);
  sayStep(world, unit, { step: takes ? 'takeover' : 'adl', amountQuanta: equity });
  if (!takes) {
    because(world, 'adl', () => {
      deleverage(world, unit, equity);
    });
    return;
  }
  const markets = marketsOf(world, unit);
  markets.forEach((market, i) => {
    const money = i === markets.length - 1 ? equity : 0n;
    const { lots } = positionOf(unit.sub, market.id);
    transferPosition(world, market, unit.sub, subOf(world, VAULT), lots, money, 'takeover');
  });
}

/** Step 4: insurance pays what is missing to an equity of 0. */
function lift(world: World, unit: Unit): void {
  const amount = -equityOf(world, unit);
  sayStep(world, unit, { step: 'insurance', amountQuanta: amount });
  book(world, subOf(world, INSURANCE), -amount, 'insurance');
  if (unit.isolated === null) book(world, unit.sub, amount, 'insurance');
  else bookMargin(world, unit.sub, unit.isolated.id, amount, 'insurance');
}

/** Whether the vault's free collateral stays ≥ 0 with the unit's positions and equity. */
function vaultAffords(world: World, unit: Unit, equity: bigint): boolean {
  const vault = subOf(world, VAULT);
  const changed = marketsOf(world, unit).map((market) => {
    const position = positionOf(vault, market.id);
    const before = initialOfPosition(vault, market);
    const { lots } = positionOf(unit.sub, market.id);
    position.lots += lots;
    const after = initialOfPosition(vault, market);
    position.lots -= lots;
    return after - before;
  });
  return crossEquity(world, vault) + equity - crossInitial(world, vault) - sum(changed) >= 0n;
}

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

function sayStep(world: World, unit: Unit, step: Step): void {
  world.touched.add(unit.sub.id);
  say(world, {
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
