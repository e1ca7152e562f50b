/** Units of liquidation. */
import { admissionEquity, liquidationEquity, maintenanceOf, type Pricing } from './margin.ts';
import { max, sum } from './numbers.ts';
import { isIsolated, positionOf, SHORTFALL, type Market, type Sub, type World } from './world.ts';

/** The unit of liquidation: cross positions with their cash, or an isolated one with its margin. */
export interface Unit {
  readonly sub: Sub;
  readonly isolated: Market | null;
}

/** Its open positions, by market. */
export const marketsOf = (world: World, { sub, isolated }: Unit): Market[] =>
  world.markets.filter(
    (market) =>
      positionOf(sub, market.id).lots !== 0n &&
      (isolated === null ? !isIsolated(sub, market.id) : market === isolated),
  );

/** Its markets that are not frozen; liquidation acts only on these. */
export const freshMarketsOf = (world: World, unit: Unit): Market[] =>
  marketsOf(world, unit).filter(({ frozen }) => !frozen);

/** Liquidation equity, with fresh positions at given prices. */
export const equityOf = (world: World, { sub, isolated }: Unit, pricing?: Pricing): bigint =>
  liquidationEquity(world, sub, isolated, pricing);

/** Equity that can be charged to a counterparty: without gains in frozen markets. */
export const partyEquityOf = (world: World, { sub, isolated }: Unit): bigint =>
  admissionEquity(world, sub, isolated);

/** The risk unit of a subaccount's position in a market. */
export const unitOf = (sub: Sub, market: Market): Unit => ({
  sub,
  isolated: isIsolated(sub, market.id) ? market : null,
});

export const maintenanceOfUnit = (world: World, unit: Unit): bigint =>
  sum(marketsOf(world, unit).map((market) => maintenanceOf(unit.sub, market)));

/** All units that can be liquidated or left with a debt. */
export function unitsOf(world: World): Unit[] {
  return world.subs
    .filter(({ id, house }) => !house && id !== SHORTFALL)
    .flatMap((sub) => [
      { sub, isolated: null },
      ...world.markets
        .filter(({ id }) => {
          const { lots, margin } = positionOf(sub, id);
          return isIsolated(sub, id) && (lots !== 0n || margin < 0n);
        })
        .map((isolated) => ({ sub, isolated })),
    ]);
}

/** equality is safe. */
export const isBelow = (world: World, unit: Unit): boolean =>
  equityOf(world, unit) < maintenanceOfUnit(world, unit);

/** By ascending equity ÷ maintenance; ties by subaccount, cross before isolated, market. */
export function mostEndangeredFirst(world: World, units: readonly Unit[]): Unit[] {
  return units
    .map((unit) => ({
      unit,
      equity: equityOf(world, unit),
      maintenance: max(1n, maintenanceOfUnit(world, unit)),
    }))
    .sort((a, b) => {
      const order = a.equity * b.maintenance - b.equity * a.maintenance;
      if (order !== 0n) return order < 0n ? -1 : 1;
      return (
        a.unit.sub.id - b.unit.sub.id || (a.unit.isolated?.id ?? -1) - (b.unit.isolated?.id ?? -1)
      );
    })
    .map(({ unit }) => unit);
}
