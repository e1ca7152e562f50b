/**
 * The liquidation price: the mark nearest to the current one at which the equity behind a
 * position is below maintenance, other marks fixed. A given price is tested, not searched for.
 */
import { MAX_PRICE_TICKS } from '../num/units.ts';
import { maintenanceAt, maintenanceOf } from './margin.ts';
import { abs, sign } from './numbers.ts';
import { equityOf, maintenanceOfUnit, unitOf } from './risk-units.ts';
import { positionOf, type Market, type Sub, type World } from './world.ts';

/** `price`: null if no mark makes the position liquidatable. */
export function isLiquidationPrice(
  world: World,
  sub: Sub,
  market: Market,
  price: bigint | null,
): boolean {
  const { lots } = positionOf(sub, market.id);
  const { mark } = market;
  if (mark === null || lots === 0n || sub.house) return price === null;
  const unit = unitOf(sub, market);
  const equity = equityOf(world, unit);
  const elsewhere = maintenanceOfUnit(world, unit) - maintenanceOf(sub, market);
  const isBelow = (at: bigint): boolean =>
    equity + lots * (at - mark) * market.unit <
    elsewhere + maintenanceAt(market, abs(lots) * at * market.unit);
  if (price === null) return !isBelow(lots > 0n ? 1n : BigInt(MAX_PRICE_TICKS));
  if (!isBelow(price)) return false;
  return price === mark || (sign(price - mark) === -sign(lots) && !isBelow(price + sign(lots)));
}
