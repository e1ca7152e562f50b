/**
 * The liquidation price of a position: the mark nearest to the current one at which the
 * equity behind it (subaccount or isolated position) is below maintenance, other marks fixed.
 * Equity moves by the whole notional and maintenance by a rate ≤ 1, so their difference is monotone
 * in the mark and binary search finds the exact tick.
 */
import { notional } from '../../num/notional.ts';
import { lots, MAX_PRICE_TICKS, priceTicks, type PriceTicks } from '../../num/units.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { requirement } from './requirement.ts';
import { unitOf } from './risk-unit.ts';

/** null if no mark makes it liquidatable; the current mark if it already is. */
export function liquidationPrice(state: ExchangeState, exposure: Exposure): PriceTicks | null {
  const market = state.market(exposure.market);
  const mark = market.markTicks;
  const unit = unitOf(state, exposure);
  if (mark === null || exposure.positionLots === 0 || unit.subaccount.role === 'house') return null;
  const { quantaPerTickLot, tiers } = market.spec;
  const size = lots(Math.abs(exposure.positionLots));
  const maintenanceAt = (price: PriceTicks): bigint =>
    requirement(notional(size, price, quantaPerTickLot), tiers, 'maintenanceMarginPpm');
  const figures = unit.figures(state);
  const elsewhere = figures.maintenance - maintenanceAt(mark);
  const isBelow = (price: PriceTicks): boolean => {
    const change =
      notional(exposure.positionLots, price, quantaPerTickLot) -
      notional(exposure.positionLots, mark, quantaPerTickLot);
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
