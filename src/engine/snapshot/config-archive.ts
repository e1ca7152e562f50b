/** Canonical bytes of exchange and market parameters, for snapshots and the config hash. */
import { archiveList, ArchiveError, ArchiveWriter, type Archive } from '../../base/archive.ts';
import { sha256Hex } from '../../base/sha256.ts';
import {
  address,
  durationUs,
  lots,
  ppb,
  ppm,
  priceTicks,
  quanta,
  timeUs,
  type Address,
  type PriceTicks,
  type Quanta,
} from '../../num/units.ts';
import type {
  ExchangeConfig,
  FundingSource,
  ImpactModel,
  IndexSource,
  MarketSpec,
  MarkSource,
  QueueModel,
  SelfTradeMode,
  TriggerSource,
} from '../config.ts';

const TRIGGER_SOURCES: readonly TriggerSource[] = ['mark', 'index', 'last'];
const MARK_SOURCES: readonly MarkSource[] = ['median', 'index', 'last', 'mid', 'external'];
const INDEX_SOURCES: readonly IndexSource[] = ['oracle', 'mid', 'external'];
const FUNDING_SOURCES: readonly FundingSource[] = ['premium', 'external'];
const QUEUE_MODELS: readonly QueueModel[] = [
  'riskAverse',
  'probPower1',
  'probPower2',
  'probPower3',
  'probLog',
];
const IMPACT_MODELS: readonly ImpactModel[] = ['none', 'permanent', 'halving'];

/** SHA-256 of the canonical bytes; binds a journal to its configuration. */
export function configHash(config: ExchangeConfig): string {
  const io = new ArchiveWriter();
  archiveConfig(io, config);
  return sha256Hex(io.bytes());
}

/** Saves `saved`, or loads when it is null. */
export function archiveConfig(io: Archive, saved: ExchangeConfig | null): ExchangeConfig {
  io.section('config');
  return {
    name: io.text(saved?.name ?? ''),
    chainId: io.int(saved?.chainId ?? 0),
    verifyingContract: archiveAddress(io, saved?.verifyingContract),
    genesisTimeUs: timeUs(io.int(saved?.genesisTimeUs ?? 0)),
    cashFeedId: io.text(saved?.cashFeedId ?? ''),
    clsAccount: archiveAddress(io, saved?.clsAccount),
    insuranceAccount: archiveAddress(io, saved?.insuranceAccount),
    treasuryAccount: archiveAddress(io, saved?.treasuryAccount),
    shortfallAccount: archiveAddress(io, saved?.shortfallAccount),
    samplingSeed: io.text(saved?.samplingSeed ?? ''),
    selfTradeExpire: io.int(saved?.selfTradeExpire ?? 0) as SelfTradeMode,
    triggerSource: archiveWord(io, saved?.triggerSource, TRIGGER_SOURCES),
    indexStaleUs: durationUs(io.int(saved?.indexStaleUs ?? 0)),
    frozenHaircutPpm: ppm(io.int(saved?.frozenHaircutPpm ?? 0)),
    maxOriginatorFeePpm: ppm(io.int(saved?.maxOriginatorFeePpm ?? 0)),
    maxDelegateOriginatorFeePpm: ppm(io.int(saved?.maxDelegateOriginatorFeePpm ?? 0)),
    vaultFeeSharePpm: ppm(io.int(saved?.vaultFeeSharePpm ?? 0)),
    insuranceFeeSharePpm: ppm(io.int(saved?.insuranceFeeSharePpm ?? 0)),
    insuranceHourlyPpm: ppm(io.int(saved?.insuranceHourlyPpm ?? 0)),
    liquidationFeePpm: ppm(io.int(saved?.liquidationFeePpm ?? 0)),
    partialLiquidationNotional: quanta(io.bigint(saved?.partialLiquidationNotional ?? 0n)),
    liquidationSlicePpm: ppm(io.int(saved?.liquidationSlicePpm ?? 0)),
    liquidationPauseUs: durationUs(io.int(saved?.liquidationPauseUs ?? 0)),
    minVaultDeposit: quanta(io.bigint(saved?.minVaultDeposit ?? 0n)),
    vaultLockupUs: durationUs(io.int(saved?.vaultLockupUs ?? 0)),
    vaultLeavePpm: ppm(io.int(saved?.vaultLeavePpm ?? 0)),
    termsNoticeUs: durationUs(io.int(saved?.termsNoticeUs ?? 0)),
    marketDataTimeUnit: archiveWord(io, saved?.marketDataTimeUnit, ['ms', 's'] as const),
    orderTypeCase: archiveWord(io, saved?.orderTypeCase, ['camel', 'pascal'] as const),
    rateLimit: io.bool(saved?.rateLimit ?? false),
    retention: {
      tradesPerMarket: io.int(saved?.retention.tradesPerMarket ?? 0),
      candleMinutesPerMarket: io.int(saved?.retention.candleMinutesPerMarket ?? 0),
      endedOrdersPerAccount: io.int(saved?.retention.endedOrdersPerAccount ?? 0),
      transfersPerSubaccount: io.int(saved?.retention.transfersPerSubaccount ?? 0),
      vaultSnapshotsPerHolder: io.int(saved?.retention.vaultSnapshotsPerHolder ?? 0),
    },
  };
}

/** Saves `saved`, or loads when it is null. */
export function archiveSpec(io: Archive, saved: MarketSpec | null): MarketSpec {
  io.section('spec');
  return {
    symbol: io.text(saved?.symbol ?? ''),
    feedId: io.text(saved?.feedId ?? ''),
    tickSize: io.text(saved?.tickSize ?? ''),
    lotSize: io.text(saved?.lotSize ?? ''),
    quantaPerTickLot: io.int(saved?.quantaPerTickLot ?? 0),
    minLots: lots(io.int(saved?.minLots ?? 0)),
    maxLots: lots(io.int(saved?.maxLots ?? 0)),
    maxPriceTicks: priceTicks(io.int(saved?.maxPriceTicks ?? 0)),
    maxOpenOrders: io.int(saved?.maxOpenOrders ?? 0),
    maxOpenInterestLots: lots(io.int(saved?.maxOpenInterestLots ?? 0)),
    maxOpenInterestNotional: optionalQuanta(io, saved?.maxOpenInterestNotional ?? null),
    priceBandPpm: ppm(io.int(saved?.priceBandPpm ?? 0)),
    tiers: archiveList(io, saved?.tiers ?? [], (tier) => ({
      floorQuanta: quanta(io.bigint(tier?.floorQuanta ?? 0n)),
      initialMarginPpm: ppm(io.int(tier?.initialMarginPpm ?? 0)),
      maintenanceMarginPpm: ppm(io.int(tier?.maintenanceMarginPpm ?? 0)),
    })),
    makerFeePpm: ppm(io.int(saved?.makerFeePpm ?? 0)),
    takerFeePpm: ppm(io.int(saved?.takerFeePpm ?? 0)),
    markSource: archiveWord(io, saved?.markSource, MARK_SOURCES),
    indexSource: archiveWord(io, saved?.indexSource, INDEX_SOURCES),
    maxMarkDeviationPpm: ppm(io.int(saved?.maxMarkDeviationPpm ?? 0)),
    initialMarkTicks: optionalTicks(io, saved?.initialMarkTicks ?? null),
    recordedLiquidity: io.bool(saved?.recordedLiquidity ?? false),
    vaultQuotePpm: ppm(io.int(saved?.vaultQuotePpm ?? 0)),
    insuranceHourlyPpm: ppm(io.int(saved?.insuranceHourlyPpm ?? 0)),
    openNotionalLower: optionalQuanta(io, saved?.openNotionalLower ?? null),
    openNotionalUpper: optionalQuanta(io, saved?.openNotionalUpper ?? null),
    funding: {
      source: archiveWord(io, saved?.funding.source, FUNDING_SOURCES),
      sampleIntervalUs: durationUs(io.int(saved?.funding.sampleIntervalUs ?? 0)),
      intervalUs: durationUs(io.int(saved?.funding.intervalUs ?? 0)),
      interestPpb: ppb(io.int(saved?.funding.interestPpb ?? 0)),
      interestClampPpb: ppb(io.int(saved?.funding.interestClampPpb ?? 0)),
      divisor: io.int(saved?.funding.divisor ?? 0),
      capPpm: ppm(io.int(saved?.funding.capPpm ?? 0)),
      marginCapPpm: ppm(io.int(saved?.funding.marginCapPpm ?? 0)),
      impactNotional: quanta(io.bigint(saved?.funding.impactNotional ?? 0n)),
    },
    queueModel: archiveWord(io, saved?.queueModel, QUEUE_MODELS),
    impactModel: archiveWord(io, saved?.impactModel, IMPACT_MODELS),
    impactHalfLifeUs: durationUs(io.int(saved?.impactHalfLifeUs ?? 0)),
  };
}

function optionalQuanta(io: Archive, saved: Quanta | null): Quanta | null {
  return io.bool(saved !== null) ? quanta(io.bigint(saved ?? 0n)) : null;
}

function optionalTicks(io: Archive, saved: PriceTicks | null): PriceTicks | null {
  const value = io.optionalInt(saved);
  return value === null ? null : priceTicks(value);
}

function archiveAddress(io: Archive, saved: Address | undefined): Address {
  return address(io.text(saved ?? ''));
}

function archiveWord<T extends string>(io: Archive, saved: T | undefined, words: readonly T[]): T {
  const text = io.text(saved ?? '');
  const word = words.find((known) => known === text);
  if (word === undefined) throw new ArchiveError(`'${text}' is not one of ${words.join(', ')}`);
  return word;
}
