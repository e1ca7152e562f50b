/** The CLS vault takes over the fresh positions of a unit (R-6.2, steps 3 and 4). */
import { ceilDivBig, maxBig, minBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { lots, PPM, type PriceTicks } from '../../num/units.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { marginFigures } from '../margin/margin.ts';
import { transferPosition } from './position-transfer.ts';
import { initialOf, maintenanceOf, mustMark } from '../margin/requirement.ts';
import type { PriceOf, RiskUnit } from '../margin/risk-unit.ts';
import { isSelfPriced, settlementTicks, takeoverTicks } from '../pricing/settlement-price.ts';

/** A position that the vault takes, its price, and the payment for taking it. */
interface Taken {
  readonly exposure: Exposure;
  readonly priceTicks: PriceTicks;
  readonly payment: bigint;
}

/**
 * Step 3: each position at its take-over price. The payment is half of its maintenance less the
 * distance to the settlement price, as far as the unit's money goes: a gain in a frozen market may
 * be lost at the thaw. null if the vault cannot take them.
 */
export function planTakeover(
  state: ExchangeState,
  unit: RiskUnit,
  equity: bigint,
): readonly Taken[] | null {
  if (equity < 0n) return null;
  let left = maxBig(0n, unit.admissionEquity(state, takeoverOf));
  const taken = unit.freshPositions(state).map((exposure) => {
    const market = state.market(exposure.market);
    const priceTicks = takeoverOf(market, exposure.positionLots);
    const distance = Math.abs(settlementTicks(market) - priceTicks);
    const size = BigInt(Math.abs(exposure.positionLots));
    const half = ceilDivBig(maintenanceOf(market, exposure.positionLots), 2n);
    const advantage = size * BigInt(distance) * BigInt(market.spec.quantaPerTickLot);
    const payment = minBig(left, maxBig(0n, half - advantage));
    left -= payment;
    return { exposure, priceTicks, payment };
  });
  return vaultAffords(state, unit, taken) ? taken : null;
}

/** Step 4, at equity of exactly 0: all positions at settlement prices, without payment. */
export function planSettledTakeover(state: ExchangeState, unit: RiskUnit): readonly Taken[] | null {
  const taken = unit.freshPositions(state).map((exposure) => ({
    exposure,
    priceTicks: settlementTicks(state.market(exposure.market)),
    payment: 0n,
  }));
  return vaultAffords(state, unit, taken) ? taken : null;
}

export function takeOver(state: State, taken: readonly Taken[]): void {
  for (const { exposure, priceTicks, payment } of taken) {
    const to = state.vault.exposure(exposure.market);
    const { positionLots } = exposure;
    const transfer = {
      lots: positionLots,
      priceTicks,
      money: payment,
      reason: 'takeover',
    } as const;
    transferPosition(state, exposure, to, transfer);
  }
}

/** Whether the vault's free collateral stays ≥ 0, at the worse of mark and index. */
function vaultAffords(state: ExchangeState, unit: RiskUnit, taken: readonly Taken[]): boolean {
  const { vault } = state;
  if (unit.subaccount === vault) return false;
  let free: bigint = vault.cash - marginFigures(state, vault).initial - frozenHaircut(state);
  const incoming = new Map(taken.map((of) => [of.exposure.market, of]));
  for (const exposure of vault.exposures) {
    if (exposure === undefined || exposure.positionLots === 0) continue;
    if (incoming.has(exposure.market)) continue;
    const market = state.market(exposure.market);
    if (market.frozen) free += minBig(0n, worth(exposure, market, exposure.positionLots, mustMark));
    else free += worth(exposure, market, exposure.positionLots, takeoverOf);
  }
  for (const { exposure: from, priceTicks, payment } of taken) {
    const market = state.market(from.market);
    if (isSelfPriced(market)) return false;
    const exposure = vault.exposure(market.id);
    const before = exposure.positionLots;
    const after = before + from.positionLots;
    // The vault's position must stay a safe integer of lots and Quanta.
    if (!Number.isSafeInteger(after)) return false;
    notional(lots(after), mustMark(market), market.spec.quantaPerTickLot);
    free += payment + worth(exposure, market, after, takeoverOf);
    free -= notional(from.positionLots, priceTicks, market.spec.quantaPerTickLot);
    free += initialOf(exposure, market, lots(Math.abs(before)));
    free -= initialOf(exposure, market, lots(Math.abs(after)));
  }
  return free >= 0n;
}

/** The take-over price for the holder of these signed lots. */
export function takeoverOf(market: Market, positionLots: number): PriceTicks {
  return takeoverTicks(market, positionLots > 0 ? 1 : -1);
}

/** Value of this many lots less the cost of the position. */
function worth(exposure: Exposure, market: Market, size: number, priceOf: PriceOf): bigint {
  const price = priceOf(market, size);
  return notional(lots(size), price, market.spec.quantaPerTickLot) - exposure.costQuanta;
}

/** Haircut of the vault's frozen positions on its free collateral. */
function frozenHaircut(state: ExchangeState): bigint {
  let frozen = 0n;
  for (const exposure of state.vault.exposures) {
    if (exposure === undefined || exposure.positionLots === 0) continue;
    const market = state.market(exposure.market);
    if (!market.frozen) continue;
    const size = lots(Math.abs(exposure.positionLots));
    frozen += notional(size, mustMark(market), market.spec.quantaPerTickLot);
  }
  return ceilDivBig(frozen * BigInt(state.config.frozenHaircutPpm), BigInt(PPM));
}
