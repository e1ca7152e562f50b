/** Bankruptcy price: equity is exactly 0; the loss is split by maintenance requirement. */
import { ceilDivBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { lots, MAX_PRICE_TICKS, PPM, priceTicks, type PriceTicks } from '../../num/units.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import { maintenanceOf, mustMark } from '../margin/requirement.ts';
import type { RiskUnit } from '../margin/risk-unit.ts';
import type { ExchangeState } from '../exchange-state.ts';

const BIG_PPM = BigInt(PPM);

/** A position's share of the equity behind it: equity × weight ÷ total. */
export interface EquityShare {
  readonly equity: bigint;
  readonly weight: bigint;
  readonly total: bigint;
}

export function equityShare(
  state: ExchangeState,
  unit: RiskUnit,
  equity: bigint,
  exposure: Exposure,
): EquityShare {
  const maintenance = (of: Exposure): bigint =>
    maintenanceOf(state.market(of.market), of.positionLots);
  // Without any maintenance requirement, notionals are the weights.
  const value = (of: Exposure): bigint => {
    const market = state.market(of.market);
    const size = lots(Math.abs(of.positionLots));
    return notional(size, mustMark(market), market.spec.quantaPerTickLot);
  };
  const positions = unit.freshPositions(state);
  const sum = (of: (exposure: Exposure) => bigint): bigint =>
    positions.reduce((total, position) => total + of(position), 0n);
  const total = sum(maintenance);
  return total > 0n
    ? { equity, weight: maintenance(exposure), total }
    : { equity, weight: value(exposure), total: sum(value) };
}

/**
 * The bankruptcy price, rounded against the holder: down for a long, up for a short; at least 0.
 */
export function bankruptcyTicks(
  state: ExchangeState,
  exposure: Exposure,
  share: EquityShare,
): PriceTicks {
  return limitAt(state, exposure, share, 0, false);
}

/** Worst price at which closing still pays the liquidation fee from the value above bankruptcy. */
export function liquidationLimit(
  state: ExchangeState,
  exposure: Exposure,
  share: EquityShare,
  feePpm: number,
): PriceTicks {
  return limitAt(state, exposure, share, feePpm, true);
}

/** A long closes at p × (1 − fee) × lots ≥ mark × lots − share, a short at the mirrored price. */
function limitAt(
  state: ExchangeState,
  exposure: Exposure,
  { equity, weight, total }: EquityShare,
  feePpm: number,
  inward: boolean,
): PriceTicks {
  const market = state.market(exposure.market);
  const size = BigInt(Math.abs(exposure.positionLots)) * BigInt(market.spec.quantaPerTickLot);
  const value = size * BigInt(mustMark(market)) * total;
  const long = exposure.positionLots > 0;
  const top = (long ? value - equity * weight : value + equity * weight) * BIG_PPM;
  const bottom = size * total * (long ? BIG_PPM - BigInt(feePpm) : BIG_PPM + BigInt(feePpm));
  const price = long === inward ? ceilDivBig(top, bottom) : -ceilDivBig(-top, bottom);
  const limit = BigInt(MAX_PRICE_TICKS);
  return priceTicks(Number(price < 0n ? 0n : price > limit ? limit : price));
}
