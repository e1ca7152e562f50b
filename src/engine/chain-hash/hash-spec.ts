/** A market's spec in the chain hash: every field, in declaration order. */
import type { RollingHash } from '../../base/rolling-hash.ts';
import type { MarketSpec } from '../config.ts';

export function hashSpec(hash: RollingHash, spec: MarketSpec): void {
  hash.text(spec.symbol);
  hash.text(spec.feedId);
  hash.text(spec.tickSize);
  hash.text(spec.lotSize);
  hash.num(spec.quantaPerTickLot);
  hash.num(spec.minLots);
  hash.num(spec.maxLots);
  hash.int(spec.maxPriceTicks);
  hash.num(spec.maxOpenOrders);
  hash.num(spec.maxOpenInterestLots);
  hash.bigint(spec.maxOpenInterestNotional ?? -1n);
  hash.int(spec.priceBandPpm);
  hash.int(spec.tiers.length);
  for (const tier of spec.tiers) {
    hash.bigint(tier.floorQuanta);
    hash.int(tier.initialMarginPpm);
    hash.int(tier.maintenanceMarginPpm);
  }
  hash.int(spec.makerFeePpm);
  hash.int(spec.takerFeePpm);
  hash.text(spec.markSource);
  hash.text(spec.indexSource);
  hash.int(spec.maxMarkDeviationPpm);
  hash.int(spec.initialMarkTicks ?? -1);
  hash.int(spec.recordedLiquidity ? 1 : 0);
  hash.int(spec.vaultQuotePpm);
  hash.int(spec.insuranceHourlyPpm);
  hash.bigint(spec.openNotionalLower ?? -1n);
  hash.bigint(spec.openNotionalUpper ?? -1n);
  hash.text(spec.funding.source);
  hash.num(spec.funding.sampleIntervalUs);
  hash.num(spec.funding.intervalUs);
  hash.num(spec.funding.interestPpb);
  hash.num(spec.funding.interestClampPpb);
  hash.num(spec.funding.divisor);
  hash.int(spec.funding.capPpm);
  hash.num(spec.funding.marginCapPpm);
  hash.bigint(spec.funding.impactNotional);
  hash.text(spec.queueModel);
  hash.text(spec.impactModel);
  hash.num(spec.impactHalfLifeUs);
}
