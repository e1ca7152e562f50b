/** Listing a market: validity of a spec. */
import type { ListMarket } from '../engine/commands.ts';
import type { FundingConfig, MarketSpec } from '../engine/config.ts';
import { beginMark } from './mark.ts';
import { ofPpm } from './numbers.ts';
import { emit, type Answer, type Market, type Rates, type World } from './world.ts';

const SECOND = 1_000_000n;
const MOST_MARKETS = 65_536;

export function listMarket(world: World, { spec }: ListMarket): Answer {
  if (world.markets.some((market) => market.spec.symbol === spec.symbol)) {
    return 'symbol_already_listed';
  }
  if (!isSound(spec)) return 'market_spec_invalid';
  if (world.markets.length >= MOST_MARKETS) return 'too_many_markets';
  const id = world.markets.length;
  const market: Market = {
    id,
    spec,
    rates: ratesOf(spec),
    nextSpec: null,
    nextAt: null,
    wasFrozen: false,
    insurancePaid: 0n,
    vaultOrder: null,
    interestTried: null,
    unit: BigInt(spec.quantaPerTickLot),
    status: 'open',
    frozen: false,
    frozenSince: 0n,
    openInterestCap: BigInt(spec.maxOpenInterestLots),
    capFixed: false,
    index: null,
    indexAt: 0n,
    mark: null,
    markAt: null,
    tested: { mark: null, lowest: 0n },
    markBefore: null,
    last: null,
    lastSeen: null,
    sourceChanged: false,
    recomputed: false,
    lastSource: null,
    ema: 0n,
    emaSample: 0n,
    emaSecond: world.now / SECOND,
    emaDue: null,
    bookChanged: false,
    markDue: null,
    samples: [],
    fundingRate: 0n,
    sampledAt: -1n,
    settledAt: -1n,
    prints: [],
    barred: false,
    rateChanges: [],
    house: [],
    levels: [],
    own: 0n,
    ownStep: 0n,
    minutes: [],
    minutesCut: true,
    withheld: [],
    carried: [],
    stale: false,
    statedMid: null,
    diverged: { lots: 0n, levels: 0 },
  };
  world.markets.push(market);
  emit(world, { kind: 'marketListed', market: id });
  if (spec.initialMarkTicks !== null) beginMark(world, market, BigInt(spec.initialMarkTicks));
  return 'ok';
}

export const ratesOf = (spec: MarketSpec): Rates => ({
  maker: ofPpm(spec.makerFeePpm),
  taker: ofPpm(spec.takerFeePpm),
  band: ofPpm(spec.priceBandPpm),
  deviation: ofPpm(spec.maxMarkDeviationPpm),
  tiers: spec.tiers.map((tier) => ({
    floor: tier.floorQuanta,
    initial: ofPpm(tier.initialMarginPpm),
    maintenance: ofPpm(tier.maintenanceMarginPpm),
  })),
});

const isCount = (n: number, minimum = 1): boolean => Number.isSafeInteger(n) && n >= minimum;
const isPart = (ppm: number): boolean => isCount(ppm, 0) && ppm <= 1_000_000;

export function isSound(spec: MarketSpec): boolean {
  const { minLots, maxLots, maxPriceTicks, quantaPerTickLot, makerFeePpm, takerFeePpm } = spec;
  const sizes = [minLots, maxLots, maxPriceTicks, quantaPerTickLot];
  const limits = [spec.maxOpenOrders, spec.maxOpenInterestLots, spec.impactHalfLifeUs];
  return (
    [...sizes, ...limits].every((n) => isCount(n)) &&
    minLots <= maxLots &&
    maxPriceTicks < 2 ** 31 &&
    BigInt(maxLots) * BigInt(maxPriceTicks) * BigInt(quantaPerTickLot) < 2n ** 63n &&
    spec.symbol.length > 0 &&
    spec.symbol.length <= 64 &&
    isPart(spec.priceBandPpm) &&
    spec.priceBandPpm > 0 &&
    isPart(spec.maxMarkDeviationPpm) &&
    isPart(takerFeePpm) &&
    Number.isSafeInteger(makerFeePpm) &&
    makerFeePpm <= 1_000_000 &&
    makerFeePpm + takerFeePpm >= 0 &&
    isPart(spec.vaultQuotePpm) &&
    isPart(spec.insuranceHourlyPpm) &&
    isFundingSound(spec.funding) &&
    areTiersSound(spec) &&
    isDeviationSound(spec) &&
    isInitialMarkSound(spec) &&
    areOpenLimitsSound(spec)
  );
}

/** a book-based mark stays closer to the index than both margins allow. */
export function isDeviationSound({ markSource, maxMarkDeviationPpm, tiers }: MarketSpec): boolean {
  if (markSource === 'index' || markSource === 'external') return true;
  return tiers.every(
    ({ initialMarginPpm, maintenanceMarginPpm }) =>
      maxMarkDeviationPpm <= initialMarginPpm - maintenanceMarginPpm &&
      2 * maxMarkDeviationPpm <= maintenanceMarginPpm,
  );
}

/** a mark made by the book alone needs an initial price. */
function isInitialMarkSound(spec: MarketSpec): boolean {
  const { markSource, initialMarkTicks, recordedLiquidity, maxPriceTicks } = spec;
  const ofBook = markSource === 'last' || markSource === 'mid';
  if (initialMarkTicks === null) return !ofBook || recordedLiquidity;
  return ofBook && isCount(initialMarkTicks) && initialMarkTicks <= maxPriceTicks;
}

/** Limits of open interest. */
function areOpenLimitsSound(spec: MarketSpec): boolean {
  const { openNotionalLower: lower, openNotionalUpper: upper, maxOpenInterestNotional } = spec;
  if (maxOpenInterestNotional !== null && maxOpenInterestNotional < 1n) return false;
  if (lower === null || upper === null) return lower === upper;
  return lower >= 0n && lower < upper;
}

function isFundingSound(funding: FundingConfig): boolean {
  const { interestPpb, interestClampPpb, capPpm, marginCapPpm } = funding;
  return (
    [funding.sampleIntervalUs, funding.intervalUs, funding.divisor].every((n) => isCount(n)) &&
    [interestPpb, interestClampPpb, capPpm, marginCapPpm].every(
      (n) => Number.isSafeInteger(n) && Math.abs(n) <= 1e9,
    ) &&
    [interestClampPpb, capPpm, marginCapPpm].every((n) => n >= 0) &&
    funding.sampleIntervalUs <= funding.intervalUs &&
    funding.impactNotional >= 1n
  );
}

/** Floors ascend from 0; maintenance is at most initial. */
function areTiersSound({ tiers }: MarketSpec): boolean {
  return (
    tiers.length > 0 &&
    tiers.every(
      (tier, i) =>
        (i === 0
          ? tier.floorQuanta === 0n
          : tier.floorQuanta > (tiers[i - 1]?.floorQuanta ?? 0n)) &&
        isPart(tier.initialMarginPpm) &&
        isPart(tier.maintenanceMarginPpm) &&
        tier.initialMarginPpm > 0 &&
        tier.maintenanceMarginPpm <= tier.initialMarginPpm,
    )
  );
}
