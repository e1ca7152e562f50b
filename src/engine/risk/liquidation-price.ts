/**
 * The liquidation price of a position: the mark nearest to today's at which equity < maintenance, other marks
 * held fixed. Equity moves by the whole notional and maintenance by a rate below 1, so the distance between them is
 * monotone in the mark, and a search by halves finds the exact tick.
 */
import { notional } from '../../num/notional.ts';
import { lots, MAX_PRICE_TICKS, priceTicks, type PriceTicks } from '../../num/units.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { marginFigures, requirement } from './margin.ts';

export function liquidationPrice(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
): PriceTicks | null {
  const mark = market.markTicks;
  if (mark === null || exposure.positionLots === 0 || subaccount.role !== 'user') return null;
  const unit = market.spec.quantaPerTickLot;
  const size = lots(Math.abs(exposure.positionLots));
  const maintenanceAt = (price: PriceTicks): bigint =>
    requirement(notional(size, price, unit), market.spec.tiers, 'maintenanceMarginPpm');
  const figures = marginFigures(state, subaccount);
  const elsewhere = figures.maintenance - maintenanceAt(mark);
  const isBelow = (price: PriceTicks): boolean => {
    const change =
      notional(exposure.positionLots, price, unit) - notional(exposure.positionLots, mark, unit);
    return figures.equity + change < elsewhere + maintenanceAt(price);
  };
  if (isBelow(mark)) return mark;

  let safe: number = mark;
  let unsafe = exposure.positionLots > 0 ? 1 : MAX_PRICE_TICKS;
  if (!isBelow(priceTicks(unsafe))) return null;
  while (Math.abs(safe - unsafe) > 1) {
    const middle = Math.floor((safe + unsafe) / 2);
    if (isBelow(priceTicks(middle))) unsafe = middle;
    else safe = middle;
  }
  return priceTicks(unsafe);
}
