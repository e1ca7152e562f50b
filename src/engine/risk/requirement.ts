/**
 * What a position is worth and what it requires at the mark. Rates are integrals over the market's tiers, so a requirement
 * is continuous at their floors; requirements round up, uPnL never rounds.
 */
import { assert } from '../../base/assert.ts';
import { divCeil, maxBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { lots, PPM, type Lots, type PriceTicks } from '../../num/units.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import type { MarginTier } from '../config.ts';
import type { Market } from '../market/market.ts';

const BIG_PPM = BigInt(PPM);

/** Requirement of a notional ≥ 0, rounded up: the integral of the tiers' rates. */
export function requirement(
  notionalQuanta: bigint,
  tiers: readonly MarginTier[],
  rate: 'initialMarginPpm' | 'maintenanceMarginPpm',
): bigint {
  let weighted = 0n;
  for (let i = 0; i < tiers.length; i++) {
    const tier = tiers[i];
    if (tier === undefined || notionalQuanta <= tier.floorQuanta) break;
    const next = tiers[i + 1];
    const top =
      next !== undefined && notionalQuanta > next.floorQuanta ? next.floorQuanta : notionalQuanta;
    weighted += (top - tier.floorQuanta) * BigInt(tier[rate]);
  }
  return divCeil(weighted, BIG_PPM);
}

/** Mark of a market in which a user holds something: orders are only accepted once there is one. */
export function mustMark(market: Market): PriceTicks {
  assert(market.markTicks !== null, 'a position or an order needs a mark price');
  return market.markTicks;
}

export function upnlOf(exposure: Exposure, market: Market): bigint {
  if (exposure.positionLots === 0) return 0n;
  const value = notional(exposure.positionLots, mustMark(market), market.spec.quantaPerTickLot);
  return value - exposure.costQuanta;
}

/** The larger absolute position that the resting orders could lead to. */
export function worstLots(positionLots: number, bidLots: number, askLots: number): Lots {
  return lots(Math.max(Math.abs(positionLots + bidLots), Math.abs(positionLots - askLots)));
}

/** Initial requirement of a position of this size: by the market's tiers, or by the account's own rate when that is more. */
export function initialOf(exposure: Exposure, market: Market, worst: Lots): bigint {
  if (worst === 0) return 0n;
  const value = notional(worst, mustMark(market), market.spec.quantaPerTickLot);
  const required = requirement(value, market.spec.tiers, 'initialMarginPpm');
  if (exposure.ownMarginPpm === 0) return required;
  return maxBig(required, divCeil(value * BigInt(exposure.ownMarginPpm), BIG_PPM));
}

export function maintenanceOf(market: Market, position: number): bigint {
  if (position === 0) return 0n;
  const size = lots(Math.abs(position));
  const value = notional(size, mustMark(market), market.spec.quantaPerTickLot);
  return requirement(value, market.spec.tiers, 'maintenanceMarginPpm');
}
