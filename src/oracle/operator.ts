/** The operator: terms and status of a market, and its delisting. */
import type { DelistMarket, SetMarketStatus, SetMarketTerms } from '../engine/commands.ts';
import type { MarginTier, MarketSpec } from '../engine/config.ts';
import { ppm } from '../num/units.ts';
import { clearBelowZero, recallDebts, settleFlatDebts } from './clearing.ts';
import { settleConsequences } from './consequences.ts';
import { end } from './endings.ts';
import { isDeviationSound, isSound, ratesOf } from './listing.ts';
import {
  endFreeze,
  fixCap,
  freeze,
  moveMark,
  noteTerms,
  recomputeDue,
  recomputeReopened,
  thaw,
} from './mark.ts';
import { abs, min, roundedDown } from './numbers.ts';
import { transferPosition } from './transfers-of-positions.ts';
import {
  because,
  isLive,
  positionOf,
  emit,
  type Answer,
  type Market,
  type Sub,
  type World,
} from './world.ts';

// Terms --------------------------------------------------------------------------------------

/** Fields that identify a market or define its prices. */
const identityOf = (spec: MarketSpec): readonly unknown[] => [
  spec.symbol,
  spec.feedId,
  spec.tickSize,
  spec.lotSize,
  spec.quantaPerTickLot,
  spec.maxPriceTicks,
  spec.markSource,
  spec.indexSource,
  spec.funding.source,
  spec.queueModel,
  spec.impactModel,
  spec.impactHalfLifeUs,
  spec.initialMarkTicks,
  spec.recordedLiquidity,
];

export function setMarketTerms(world: World, c: SetMarketTerms): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  const identity = identityOf(market.spec);
  if (identityOf(c.spec).some((value, i) => value !== identity[i])) return 'market_terms_immutable';
  if (!isSound(c.spec)) return 'market_spec_invalid';
  announce(world, market, c.spec);
  emitTerms(world, market);
  if (market.markDue === world.now) recomputeDue(world, market);
  return 'ok';
}

/** Puts terms in force as far as they need no notice. */
function announce(world: World, market: Market, next: MarketSpec): void {
  const old = market.spec;
  const waits = maintenanceRises(old.tiers, next.tiers);
  const notice = BigInt(world.config.termsNoticeUs);
  if (notice === 0n) {
    market.nextSpec = null;
    market.nextAt = null;
    takeSpec(world, market, next);
    return;
  }
  const now: MarketSpec = {
    ...next,
    tiers: waits ? old.tiers : next.tiers,
    maxMarkDeviationPpm: old.maxMarkDeviationPpm,
    funding: {
      ...next.funding,
      capPpm: old.funding.capPpm,
      marginCapPpm: old.funding.marginCapPpm,
    },
  };
  const deviation = Math.min(old.maxMarkDeviationPpm, next.maxMarkDeviationPpm);
  // The terms until then also satisfy the rules of a listing.
  takeSpec(
    world,
    market,
    isDeviationSound(now) ? now : { ...now, maxMarkDeviationPpm: ppm(deviation) },
  );
  const differs =
    waits ||
    next.maxMarkDeviationPpm !== market.spec.maxMarkDeviationPpm ||
    next.funding.capPpm !== old.funding.capPpm ||
    next.funding.marginCapPpm !== old.funding.marginCapPpm;
  market.nextSpec = differs ? next : null;
  market.nextAt = differs ? world.now + notice : null;
}

/** Puts announced terms in force at the end of their notice. */
export function takeTerms(world: World, market: Market): void {
  const { nextSpec, nextAt } = market;
  if (nextSpec === null || nextAt === null || nextAt > world.now) return;
  takeSpec(world, market, nextSpec);
  market.nextSpec = null;
  market.nextAt = null;
  emitTerms(world, market);
}

function takeSpec(world: World, market: Market, spec: MarketSpec): void {
  // Other terms leave no unit below maintenance that was not (D-57).
  if (!sameTiers(market.spec.tiers, spec.tiers)) world.danger = true;
  market.spec = spec;
  market.rates = ratesOf(spec);
  if (market.capFixed) fixCap(market, true);
  else market.openInterestCap = BigInt(spec.maxOpenInterestLots);
  noteTerms(world, market);
}

const sameTiers = (old: readonly MarginTier[], next: readonly MarginTier[]): boolean =>
  old.length === next.length &&
  old.every((tier, i) => {
    const other = next[i];
    return (
      other !== undefined &&
      tier.floorQuanta === other.floorQuanta &&
      tier.initialMarginPpm === other.initialMarginPpm &&
      tier.maintenanceMarginPpm === other.maintenanceMarginPpm
    );
  });

function emitTerms(world: World, market: Market): void {
  world.marked.add(market.id);
  emit(world, {
    kind: 'marketTermsChanged',
    market: market.id,
    effectiveUs: market.nextAt,
  });
}

/** Whether the new requirement exceeds the old one at a floor, or beyond all of them. */
function maintenanceRises(old: readonly MarginTier[], next: readonly MarginTier[]): boolean {
  const last = (tiers: readonly MarginTier[]): number => tiers.at(-1)?.maintenanceMarginPpm ?? 0;
  if (last(next) > last(old)) return true;
  return [...old, ...next].some(
    ({ floorQuanta }) => maintenanceAt(next, floorQuanta) > maintenanceAt(old, floorQuanta),
  );
}

/** The requirement of a notional in millionths, never rounded. */
function maintenanceAt(tiers: readonly MarginTier[], notional: bigint): bigint {
  return tiers.reduce((total, { floorQuanta, maintenanceMarginPpm }, i) => {
    const top = min(notional, tiers[i + 1]?.floorQuanta ?? notional);
    return top > floorQuanta ? total + (top - floorQuanta) * BigInt(maintenanceMarginPpm) : total;
  }, 0n);
}

// Status -------------------------------------------------------------------------------------

export function setMarketStatus(world: World, c: SetMarketStatus): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  market.status = c.status;
  emit(world, { kind: 'marketStatusChanged', market: market.id, status: c.status });
  if (c.status === 'halted') {
    if (!market.frozen) freeze(world, market);
  } else if (thaw(world, market)) {
    recomputeReopened(world, market);
    recallDebts(world, market);
  }
  return 'ok';
}

// Delisting ----------------------------------------------------------------------------------

export function delistMarket(world: World, c: DelistMarket): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  const last = market.index ?? market.mark;
  if (last === null) return 'index_not_fresh';
  const price = c.priceTicks === null ? last : BigInt(c.priceTicks);
  if (price < 1n) return 'price_not_positive';
  if (abs(price - last) > roundedDown(last, market.rates.band)) {
    return 'price_outside_band';
  }
  because(world, 'delisting', () => {
    settleAt(world, market, price);
  });
  return 'ok';
}

function settleAt(world: World, market: Market, price: bigint): void {
  market.status = 'delisted';
  emit(world, { kind: 'marketStatusChanged', market: market.id, status: 'delisted' });
  for (const order of [...world.live]) {
    if (order.market === market.id && isLive(order)) end(world, order, 'cancelled', 'delisted');
  }
  settleConsequences(world);
  market.index = price;
  market.indexAt = world.now;
  const { frozen } = market;
  if (frozen) endFreeze(world, market);
  moveMark(world, market, price);
  world.marked.add(market.id);
  emit(world, { kind: 'markChanged', market: market.id, markTicks: price, indexTicks: price });
  if (frozen) recallDebts(world, market);
  clearBelowZero(world);
  closeAll(world, market, price);
  market.nextSpec = null;
  market.nextAt = null;
  market.emaDue = null;
  market.markDue = null;
  market.samples = [];
  settleFlatDebts(world);
  emit(world, { kind: 'marketDelisted', market: market.id, priceTicks: price });
}

/** Longs against shorts in id order; both sides get the price, and no other money moves. */
function closeAll(world: World, market: Market, price: bigint): void {
  const holder = (side: bigint): Sub | undefined =>
    world.subs.find((sub) => positionOf(sub, market.id).lots * side > 0n);
  for (;;) {
    const [long, short] = [holder(1n), holder(-1n)];
    if (long === undefined || short === undefined) return;
    const size = min(positionOf(long, market.id).lots, -positionOf(short, market.id).lots);
    const transfer = { lots: size, price, money: 0n, reason: 'delisting' } as const;
    transferPosition(world, market, long, short, transfer);
  }
}
