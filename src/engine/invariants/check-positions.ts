/** Invariants of positions: zero sum, holders, requirements, and maintenance. */
import { lots, PPM, type Lots } from '../../num/units.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { MarginTier, MarketSpec } from '../config.ts';
import { liquidatable } from '../liquidation/liquidation.ts';
import { marginFigures } from '../margin/margin.ts';
import type { ExchangeState } from '../exchange-state.ts';

/** Σ signed lots = 0 in every market, and open interest is Σ of longs. */
export function openInterest(state: ExchangeState): string | null {
  for (const market of state.markets) {
    let sum = 0;
    let long = 0;
    for (const subaccount of state.accounts.subaccounts) {
      const position = subaccount.exposures[market.id]?.positionLots ?? 0;
      sum += position;
      if (position > 0) long += position;
    }
    if (sum !== 0) return `${market.spec.symbol}: positions sum to ${String(sum)} lots`;
    if (long !== market.openInterestLots) {
      return `${market.spec.symbol}: open interest ${String(market.openInterestLots)} ≠ ${String(long)}`;
    }
  }
  return null;
}

/** no unit is below maintenance unless it waits for a price or a pause; by a full scan. */
export function noneLiquidatable(state: ExchangeState): string | null {
  const [first] = liquidatable(state);
  return first === undefined ? null : `subaccount ${String(first)} is below maintenance`;
}

/** the holders of a market are those with a position there. */
export function holders(state: ExchangeState): string | null {
  for (const { id, spec, holders: known } of state.markets) {
    const holding = new Set(known);
    for (const subaccount of state.accounts.subaccounts) {
      const holds = (subaccount.exposures[id]?.positionLots ?? 0) !== 0;
      if (holds !== holding.has(subaccount.id)) {
        return `${spec.symbol}: subaccount ${String(subaccount.id)} ${holds ? 'holds unknown' : 'holds nothing'}`;
      }
    }
  }
  return null;
}

/** a position of zero lots has no cost, margin or funding. */
export function flatIsEmpty(state: ExchangeState): string | null {
  for (const { id, exposures } of state.accounts.subaccounts) {
    for (const exposure of exposures) {
      if (exposure === undefined || exposure.positionLots !== 0) continue;
      if (exposure.costQuanta !== 0n || exposure.fundingQuanta !== 0n) {
        return `subaccount ${String(id)} market ${String(exposure.market)}: cost ${String(exposure.costQuanta)}, funding ${String(exposure.fundingQuanta)}`;
      }
    }
  }
  return null;
}

/** equity and requirements equal the sums over positions and resting orders. */
export function requirementIsSum(state: ExchangeState): string | null {
  for (const subaccount of state.accounts.subaccounts) {
    if (subaccount.role !== 'user' || subaccount.exposureCount === 0) continue;
    const summed = summedFigures(state, subaccount);
    if (summed === null) continue;
    const { equity, initial, maintenance } = marginFigures(state, subaccount);
    if (equity === summed.equity && initial === summed.initial) {
      if (maintenance === summed.maintenance) continue;
    }
    const figures = [equity, initial, maintenance].join(', ');
    const sums = [summed.equity, summed.initial, summed.maintenance].join(', ');
    return `subaccount ${String(subaccount.id)}: equity, initial, maintenance ${figures} ≠ ${sums}`;
  }
  return null;
}

/** null for subaccounts with isolated positions or orders, which have separate rules. */
function summedFigures(
  state: ExchangeState,
  subaccount: Subaccount,
): { readonly equity: bigint; readonly initial: bigint; readonly maintenance: bigint } | null {
  let equity: bigint = subaccount.cash;
  let initial = 0n;
  let maintenance = 0n;
  for (const exposure of subaccount.exposures) {
    if (exposure === undefined) continue;
    if (exposure.isolated) return null;
    const { markTicks, spec, nextSpec, openInterestLots } = state.market(exposure.market);
    const worst = worstPosition(state, exposure);
    if (worst === 0) continue;
    if (markTicks === null) return null;
    const lotValue = BigInt(markTicks) * BigInt(spec.quantaPerTickLot);
    const { positionLots: held } = exposure;
    const holding = BigInt(held) * lotValue;
    const size = holding < 0n ? -holding : holding;
    equity += holding - exposure.costQuanta;
    maintenance += integral(size, spec.tiers, 'maintenanceMarginPpm');
    const value = worst === Math.abs(held) ? size : BigInt(worst) * lotValue;
    const now = integral(value, spec.tiers, 'initialMarginPpm');
    const next = nextSpec === null ? 0n : integral(value, nextSpec.tiers, 'initialMarginPpm');
    const open = spec.openNotionalUpper === null ? 0n : BigInt(openInterestLots) * lotValue;
    const byTiers = risen(value, now > next ? now : next, open, spec);
    const own = exposure.ownMarginPpm;
    const byOwn = own === 0 ? 0n : ceilPpm(value * BigInt(own));
    initial += byTiers > byOwn ? byTiers : byOwn;
  }
  return { equity, initial, maintenance };
}

function worstPosition(state: ExchangeState, exposure: Exposure): Lots {
  if (exposure.orders.head === NONE) return lots(Math.abs(exposure.positionLots));
  const table = state.orders;
  let bids = 0;
  let asks = 0;
  for (let slot = exposure.orders.head; slot !== NONE; slot = table.nextOfOwner(slot)) {
    if (!table.isResting(slot)) continue;
    if (table.isReduceOnly(slot)) continue;
    if (table.side(slot) > 0) bids += table.left(slot);
    else asks += table.left(slot);
  }
  const { positionLots } = exposure;
  return lots(Math.max(Math.abs(positionLots + bids), Math.abs(positionLots - asks)));
}

/**
 * the requirement, interpolated toward the full value between the bounds of open notional.
 */
function risen(value: bigint, required: bigint, open: bigint, spec: MarketSpec): bigint {
  const { openNotionalLower: lower, openNotionalUpper: upper } = spec;
  if (lower === null || upper === null || lower >= upper || open <= lower) return required;
  if (open >= upper) return value;
  const span = upper - lower;
  return required + ((value - required) * (open - lower) + span - 1n) / span;
}

/** Sum over tiers: rate × the part of the notional in the tier. */
function integral(
  notional: bigint,
  tiers: readonly MarginTier[],
  rate: 'initialMarginPpm' | 'maintenanceMarginPpm',
): bigint {
  let weighted = 0n;
  let top = notional;
  for (let i = tiers.length - 1; i >= 0; i--) {
    const tier = tiers[i];
    if (tier === undefined || tier.floorQuanta >= top) continue;
    weighted += (top - tier.floorQuanta) * BigInt(tier[rate]);
    top = tier.floorQuanta;
  }
  return ceilPpm(weighted);
}

const BIG_PPM = BigInt(PPM);
const ceilPpm = (weighted: bigint): bigint => (weighted + BIG_PPM - 1n) / BIG_PPM;
