/** A market's parameters as decimal text by field: the inverse of `parseMarketSpec`. */
import type { MarketSpec } from '../engine/config.ts';
import { formatDecimal } from '../num/decimal.ts';
import { COLLATERAL_DECIMALS } from '../num/units.ts';
import { stepOf } from './encode.ts';

/** Fields that identify a market; the others are its terms. */
export type MarketText = Readonly<Record<string, unknown>>;

export function marketText(spec: MarketSpec): MarketText {
  const { symbol, feedId, tickSize, lotSize } = spec;
  return { symbol, feedId, tickSize, lotSize, ...termsText(spec) };
}

/** All terms of a market. Fields that are absent by default appear only if they have a value. */
export function termsText(spec: MarketSpec): MarketText {
  const lot = stepOf(spec.lotSize);
  const tick = stepOf(spec.tickSize);
  const size = (lots: number): string => formatDecimal(BigInt(lots) * lot.digits, lot.scale);
  const price = (ticks: number): string => formatDecimal(BigInt(ticks) * tick.digits, tick.scale);
  const { funding } = spec;
  return {
    minQuantity: size(spec.minLots),
    maxQuantity: size(spec.maxLots),
    maxPrice: price(spec.maxPriceTicks),
    maxOpenOrders: String(spec.maxOpenOrders),
    ...(spec.maxOpenInterestLots === Number.MAX_SAFE_INTEGER
      ? {}
      : { maxOpenInterest: size(spec.maxOpenInterestLots) }),
    ...optional('maxOpenInterestNotional', spec.maxOpenInterestNotional),
    priceBand: ppm(spec.priceBandPpm),
    marginTiers: spec.tiers.map((tier) => ({
      notionalFloor: money(tier.floorQuanta),
      initialMargin: ppm(tier.initialMarginPpm),
      maintenanceMargin: ppm(tier.maintenanceMarginPpm),
    })),
    makerFee: ppm(spec.makerFeePpm),
    takerFee: ppm(spec.takerFeePpm),
    markSource: spec.markSource,
    indexSource: spec.indexSource,
    maxMarkDeviation: ppm(spec.maxMarkDeviationPpm),
    ...(spec.initialMarkTicks === null ? {} : { initialMark: price(spec.initialMarkTicks) }),
    recordedLiquidity: String(spec.recordedLiquidity),
    vaultQuote: ppm(spec.vaultQuotePpm),
    insuranceHourly: ppm(spec.insuranceHourlyPpm),
    ...optional('openNotionalLower', spec.openNotionalLower),
    ...optional('openNotionalUpper', spec.openNotionalUpper),
    funding: {
      source: funding.source,
      sampleIntervalMs: millis(funding.sampleIntervalUs),
      intervalMs: millis(funding.intervalUs),
      interest: formatDecimal(BigInt(funding.interestPpb), 9),
      interestClamp: formatDecimal(BigInt(funding.interestClampPpb), 9),
      divisor: String(funding.divisor),
      cap: ppm(funding.capPpm),
      marginCap: ppm(funding.marginCapPpm),
      impactNotional: money(funding.impactNotional),
    },
    queueModel: spec.queueModel,
    impactModel: spec.impactModel,
    impactHalfLifeMs: millis(spec.impactHalfLifeUs),
  };
}

function optional(name: string, value: bigint | null): MarketText {
  return value === null ? {} : { [name]: money(value) };
}

const ppm = (value: number): string => formatDecimal(BigInt(value), 6);
const money = (value: bigint): string => formatDecimal(value, COLLATERAL_DECIMALS);
const millis = (us: number): string => String(Math.floor(us / 1000));
