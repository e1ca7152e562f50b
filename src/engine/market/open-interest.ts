/** The limit of open interest in lots. The first price converts a limit in money. */
import { minBig } from '../../num/arithmetic.ts';
import { lots, type Lots, type PriceTicks } from '../../num/units.ts';
import type { MarketSpec } from '../config.ts';
import type { Market } from './market.ts';

/** Called with every price before it is set: the first one fixes the limit. */
export function fixOpenInterestCap(market: Market, price: PriceTicks): void {
  if (market.indexTicks !== null || market.markTicks !== null) return;
  market.openInterestCapLots = openInterestCap(market.spec, price);
}

/** The lower of both limits at a price, at least one lot. */
export function openInterestCap(spec: MarketSpec, price: PriceTicks): Lots {
  const { maxOpenInterestLots, maxOpenInterestNotional, quantaPerTickLot } = spec;
  if (maxOpenInterestNotional === null) return maxOpenInterestLots;
  const limit = maxOpenInterestNotional / (BigInt(price) * BigInt(quantaPerTickLot));
  return lots(Math.max(1, Number(minBig(limit, BigInt(maxOpenInterestLots)))));
}
