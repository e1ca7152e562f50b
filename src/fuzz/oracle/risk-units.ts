/** What is liquidated as one. */
import { crossEquity, isolatedEquity, maintenanceOf } from './margin.ts';
import { sum } from './numbers.ts';
import { isIsolated, positionOf, type Market, type Sub, type World } from './world.ts';

/** What is liquidated as one: the cross positions of a subaccount with its cash, or an isolated position with its margin. */
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

export const equityOf = (world: World, { sub, isolated }: Unit): bigint =>
  isolated === null ? crossEquity(world, sub) : isolatedEquity(sub, isolated);

export const maintenanceOfUnit = (world: World, unit: Unit): bigint =>
  sum(marketsOf(world, unit).map((market) => maintenanceOf(unit.sub, market)));
