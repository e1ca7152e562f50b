/** Terms and state of a market as records: for GET /markets, GET /price, GET /summary and feeds. */
import type { MarketSpec } from '../engine/config.ts';
import type { ExchangeView, MarketView } from '../engine/read/views.ts';
import { formatDecimal } from '../num/decimal.ts';
import type { PriceTicks } from '../num/units.ts';
import { fraction, inSteps, millis, money } from './encode.ts';

/** Decimals of funding rates: parts per billion. */
const PPB_DECIMALS = 9;

export function encodeMarket(market: MarketView) {
  const { spec, nextSpec, nextSpecUs, frozenSinceUs } = market;
  return {
    symbol: spec.symbol,
    feedId: spec.feedId,
    tickSize: spec.tickSize,
    lotSize: spec.lotSize,
    maxPrice: inSteps(spec.maxPriceTicks, spec.tickSize),
    markSource: spec.markSource,
    indexSource: spec.indexSource,
    initialMark:
      spec.initialMarkTicks === null ? null : inSteps(spec.initialMarkTicks, spec.tickSize),
    recordedLiquidity: spec.recordedLiquidity,
    ...encodeTerms(spec, market.openInterestCapLots),
    status: market.status,
    frozen: frozenSinceUs !== null,
    frozenSince: frozenSinceUs === null ? null : millis(frozenSinceUs),
    nextTerms:
      nextSpec === null || nextSpecUs === null
        ? null
        : { effectiveAt: millis(nextSpecUs), ...encodeTerms(nextSpec) },
  };
}

/** Terms that the operator may change; the open-interest limit is the effective one if known. */
function encodeTerms(spec: MarketSpec, openInterestCap = spec.maxOpenInterestLots) {
  const { funding } = spec;
  return {
    minQuantity: inSteps(spec.minLots, spec.lotSize),
    maxQuantity: inSteps(spec.maxLots, spec.lotSize),
    maxOpenOrders: spec.maxOpenOrders,
    maxOpenInterest: inSteps(openInterestCap, spec.lotSize),
    maxOpenInterestNotional: optionalMoney(spec.maxOpenInterestNotional),
    priceBand: fraction(spec.priceBandPpm),
    makerFee: fraction(spec.makerFeePpm),
    takerFee: fraction(spec.takerFeePpm),
    marginTiers: spec.tiers.map((tier) => ({
      notionalFloor: money(tier.floorQuanta),
      initialMargin: fraction(tier.initialMarginPpm),
      maintenanceMargin: fraction(tier.maintenanceMarginPpm),
    })),
    maxMarkDeviation: fraction(spec.maxMarkDeviationPpm),
    vaultQuote: fraction(spec.vaultQuotePpm),
    insuranceHourly: fraction(spec.insuranceHourlyPpm),
    openNotionalLower: optionalMoney(spec.openNotionalLower),
    openNotionalUpper: optionalMoney(spec.openNotionalUpper),
    funding: {
      source: funding.source,
      sampleIntervalMs: funding.sampleIntervalUs / 1000,
      intervalMs: funding.intervalUs / 1000,
      interest: formatDecimal(BigInt(funding.interestPpb), PPB_DECIMALS),
      interestClamp: formatDecimal(BigInt(funding.interestClampPpb), PPB_DECIMALS),
      divisor: funding.divisor,
      cap: fraction(funding.capPpm),
      marginCap: fraction(funding.marginCapPpm),
      impactNotional: money(funding.impactNotional),
    },
  };
}

function optionalMoney(value: bigint | null): string | null {
  return value === null ? null : money(value);
}

/** State beyond the contract's fields: status, mark components and predicted funding. */
export function encodeMarketState(engine: ExchangeView, market: MarketView) {
  const { spec, frozenSinceUs } = market;
  const legs = engine.markComposition(market.id);
  const funding = engine.fundingOutlook(market.id);
  const price = (ticks: PriceTicks | null): string | null =>
    ticks === null ? null : inSteps(ticks, spec.tickSize);
  return {
    status: market.status,
    frozen: frozenSinceUs !== null,
    frozenSince: frozenSinceUs === null ? null : millis(frozenSinceUs),
    indexTime: market.indexAtUs === null ? null : millis(market.indexAtUs),
    indexStale: market.indexStale,
    markComposition: {
      source: spec.markSource,
      index: price(legs.indexTicks),
      smoothed: price(legs.smoothedTicks),
      last: price(legs.lastTicks),
      impactBid: price(legs.impactBidTicks),
      impactAsk: price(legs.impactAskTicks),
      lowest: price(legs.lowestTicks),
      highest: price(legs.highestTicks),
    },
    nextFundingTime: funding.nextUs === null ? null : millis(funding.nextUs),
    indicativeFundingRate:
      funding.indicativePpb === null
        ? null
        : formatDecimal(BigInt(funding.indicativePpb), PPB_DECIMALS),
    fundingSamples: funding.samples,
  };
}
