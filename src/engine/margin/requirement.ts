/**
 * Value and requirements of a position at the mark. Rates are integrals over the
 * market's tiers, so a requirement is continuous at their floors. Requirements round up, uPnL never
 * rounds.
 *
 * The initial requirement includes announced terms and rises with the market's open
 * notional. Maintenance uses only the terms in force: no order or fill of another account
 * can make an account liquidatable.
 */
import { assert } from '../../base/assert.ts';
import { ceilDivBig, maxBig, minBig } from '../../num/arithmetic.ts';
import {
  isPositive,
  minus,
  moneyOf,
  NO_MONEY,
  notionalMoney,
  ppmCeil,
  type Money,
} from '../../num/money.ts';
import { notional, ppmOfCeil } from '../../num/notional.ts';
import { lots, PPM, quanta, ppm, type Lots, type Ppm, type PriceTicks } from '../../num/units.ts';
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
  let below = 0;
  for (const tier of tiers) {
    if (notionalQuanta <= tier.floorQuanta) break;
    weighted += (notionalQuanta - tier.floorQuanta) * BigInt(tier[rate] - below);
    below = tier[rate];
  }
  return ceilDivBig(weighted, BIG_PPM);
}

/** Mark of a market in which a user has a position: orders require a mark. */
export function mustMark(market: Market): PriceTicks {
  assert(market.markTicks !== null, 'a position or an order needs a mark price');
  return market.markTicks;
}

export function upnlOf(exposure: Exposure, market: Market): bigint {
  if (exposure.positionLots === 0) return 0n;
  const value = notional(exposure.positionLots, mustMark(market), market.spec.quantaPerTickLot);
  return value - exposure.costQuanta;
}

/** The largest absolute position that the resting orders could produce. */
export function worstLots(positionLots: number, bidLots: number, askLots: number): Lots {
  return lots(Math.max(Math.abs(positionLots + bidLots), Math.abs(positionLots - askLots)));
}

/** Fraction in [0, 1] of the interpolation from the tiers' rate to 100 %. */
export interface RateRise {
  readonly top: bigint;
  readonly bottom: bigint;
}

const NO_RISE: RateRise = { top: 0n, bottom: 1n };

/** Rise of the initial rate: 0 up to `lower`, 1 from `upper`, linear between; else 0. */
export function rateRise(
  openNotional: bigint,
  lower: bigint | null,
  upper: bigint | null,
): RateRise {
  if (lower === null || upper === null || upper <= lower || openNotional <= lower) return NO_RISE;
  return { top: minBig(openNotional, upper) - lower, bottom: upper - lower };
}

/** The current rise of a market's initial rate. */
export function rateRiseOf(market: Market): RateRise {
  const { openNotionalLower, openNotionalUpper, quantaPerTickLot } = market.spec;
  if (openNotionalLower === null || openNotionalUpper === null) return NO_RISE;
  const open = notional(market.openInterestLots, mustMark(market), quantaPerTickLot);
  return rateRise(open, openNotionalLower, openNotionalUpper);
}

/** `required` interpolated toward the whole value by the rise; rounded up. */
export function risenRequirement(value: bigint, required: bigint, rise: RateRise): bigint {
  if (rise.top === 0n) return required;
  return required + ceilDivBig((value - required) * rise.top, rise.bottom);
}

/** Initial requirement of a notional ≥ 0: the larger of current and announced terms, risen. */
export function initialRequirement(market: Market, value: bigint): bigint {
  const { spec, nextSpec } = market;
  let required = requirement(value, spec.tiers, 'initialMarginPpm');
  if (nextSpec !== null) {
    required = maxBig(required, requirement(value, nextSpec.tiers, 'initialMarginPpm'));
  }
  return risenRequirement(value, required, rateRiseOf(market));
}

/** Initial rate of the first tier, in force or announced: the minimum of an account's own rate. */
export function firstInitialPpm({ spec, nextSpec }: Market): Ppm {
  const now = spec.tiers[0]?.initialMarginPpm ?? 0;
  return ppm(Math.max(now, nextSpec?.tiers[0]?.initialMarginPpm ?? 0));
}

/** Initial requirement of a notional ≥ 0: by market terms, or by the own rate if higher. */
export function initialOfValue(market: Market, value: bigint, ownMarginPpm: number): bigint {
  const required = initialRequirement(market, value);
  if (ownMarginPpm === 0) return required;
  return maxBig(required, ceilDivBig(value * BigInt(ownMarginPpm), BIG_PPM));
}

/** Initial requirement of a position of this size at the mark. */
export function initialOf(exposure: Exposure, market: Market, worst: Lots): bigint {
  if (worst === 0) return 0n;
  const value = notional(worst, mustMark(market), market.spec.quantaPerTickLot);
  return initialOfValue(market, value, exposure.ownMarginPpm);
}

export function maintenanceOf(market: Market, position: number): bigint {
  if (position === 0) return 0n;
  const size = lots(Math.abs(position));
  const value = notional(size, mustMark(market), market.spec.quantaPerTickLot);
  return requirement(value, market.spec.tiers, 'maintenanceMarginPpm');
}

/** Value of a position in admission (R-5.3b): its uPnL, without a gain in a frozen market. */
export function admittedUpnl(exposure: Exposure, market: Market): bigint {
  const upnl = upnlOf(exposure, market);
  return market.frozen && upnl > 0n ? 0n : upnl;
}

/** Notional of a position in a frozen market, subject to the haircut; 0 in a fresh one. */
export function frozenNotional(exposure: Exposure, market: Market): bigint {
  if (!market.frozen || exposure.positionLots === 0) return 0n;
  const size = lots(Math.abs(exposure.positionLots));
  return notional(size, mustMark(market), market.spec.quantaPerTickLot);
}

/** The haircut on the frozen notional of a subaccount's cross positions, rounded up once. */
export function haircutOf(frozen: bigint, haircutPpm: Ppm): bigint {
  return frozen === 0n ? 0n : ppmOfCeil(quanta(frozen), haircutPpm);
}

/**
 * `initialOf` on the hot path: doubles while the market has one rate for all notionals, the same
 * exact rule otherwise.
 */
export function initialMoney(exposure: Exposure, market: Market, worst: number): Money {
  if (worst === 0) return NO_MONEY;
  const rate = flatInitialPpm(market);
  if (rate === null) return moneyOf(initialOf(exposure, market, lots(worst)));
  const value = notionalMoney(worst, mustMark(market), market.spec.quantaPerTickLot);
  return ppmCeil(value, Math.max(rate, exposure.ownMarginPpm));
}

/** The initial rate of any notional; null if it depends on the notional or rises. */
export function flatInitialPpm({ spec, nextSpec }: Market): number | null {
  const { tiers, openNotionalLower } = spec;
  if (tiers.length !== 1 || openNotionalLower !== null || nextSpec !== null) return null;
  return tiers[0]?.initialMarginPpm ?? null;
}

/** `maintenanceOf` in the same way. */
export function maintenanceMoney(market: Market, position: number): Money {
  if (position === 0) return NO_MONEY;
  const { tiers, quantaPerTickLot } = market.spec;
  const [tier] = tiers;
  if (tiers.length !== 1 || tier === undefined) return moneyOf(maintenanceOf(market, position));
  const value = notionalMoney(Math.abs(position), mustMark(market), quantaPerTickLot);
  return ppmCeil(value, tier.maintenanceMarginPpm);
}

/** `admittedUpnl` in doubles. */
export function admittedMoney({ positionLots, costMoney }: Exposure, market: Market): Money {
  if (positionLots === 0) return NO_MONEY;
  const value = notionalMoney(positionLots, mustMark(market), market.spec.quantaPerTickLot);
  const upnl = minus(value, costMoney);
  return market.frozen && isPositive(upnl) ? NO_MONEY : upnl;
}
