/**
 * Fields of the parameters of an exchange and of a market. Their order is that of archive bytes and
 * of the chain hash.
 */
import {
  MARKET_STATUSES,
  type ExchangeConfig,
  type FundingConfig,
  type MarginTier,
  type MarketSpec,
  type RetentionConfig,
  type SelfTradeMode,
} from '../config.ts';
import { list, number, optional, record, word, type RecordType } from './field-types.ts';
import {
  ADDRESS,
  BOOLEAN,
  COUNT,
  DURATION,
  PPB,
  PPM,
  QUANTA,
  SIZE,
  TEXT,
  TICKS,
  TIME,
  WIDE_COUNT,
  WIDE_PPM,
} from './units.ts';

const AS_TEXT = { hashedAs: 'text' } as const;

export const SELF_TRADE_MODE = number<SelfTradeMode>('count');
export const MARKET_STATUS = word(MARKET_STATUSES);

const FUNDING = record<FundingConfig>({
  source: word(['premium', 'external'], AS_TEXT),
  sampleIntervalUs: DURATION,
  intervalUs: DURATION,
  interestPpb: PPB,
  interestClampPpb: PPB,
  divisor: WIDE_COUNT,
  capPpm: PPM,
  marginCapPpm: WIDE_PPM,
  impactNotional: QUANTA,
});

export const MARKET_SPEC: RecordType<MarketSpec> = {
  ...record<MarketSpec>({
    symbol: TEXT,
    feedId: TEXT,
    tickSize: TEXT,
    lotSize: TEXT,
    quantaPerTickLot: WIDE_COUNT,
    minLots: SIZE,
    maxLots: SIZE,
    maxPriceTicks: TICKS,
    maxOpenOrders: WIDE_COUNT,
    maxOpenInterestLots: SIZE,
    maxOpenInterestNotional: optional(QUANTA),
    priceBandPpm: PPM,
    tiers: list(
      record<MarginTier>({
        floorQuanta: QUANTA,
        initialMarginPpm: PPM,
        maintenanceMarginPpm: PPM,
      }),
    ),
    makerFeePpm: PPM,
    takerFeePpm: PPM,
    markSource: word(['median', 'index', 'last', 'mid', 'external'], AS_TEXT),
    indexSource: word(['oracle', 'mid', 'external'], AS_TEXT),
    maxMarkDeviationPpm: PPM,
    initialMarkTicks: optional(TICKS),
    recordedLiquidity: BOOLEAN,
    vaultQuotePpm: PPM,
    insuranceHourlyPpm: PPM,
    openNotionalLower: optional(QUANTA),
    openNotionalUpper: optional(QUANTA),
    funding: FUNDING,
    queueModel: word(['riskAverse', 'probPower1', 'probPower2', 'probPower3', 'probLog'], AS_TEXT),
    impactModel: word(['none', 'permanent', 'halving', 'squareRoot'], AS_TEXT),
    impactHalfLifeUs: DURATION,
  }),
  section: 'spec',
};

/** In snapshots and journal headers; in no chain hash. */
export const EXCHANGE_CONFIG: RecordType<ExchangeConfig> = {
  ...record<ExchangeConfig>({
    name: TEXT,
    chainId: COUNT,
    verifyingContract: ADDRESS,
    genesisTimeUs: TIME,
    cashFeedId: TEXT,
    clsAccount: ADDRESS,
    insuranceAccount: ADDRESS,
    treasuryAccount: ADDRESS,
    shortfallAccount: ADDRESS,
    samplingSeed: TEXT,
    selfTradeExpire: SELF_TRADE_MODE,
    triggerSource: word(['mark', 'index', 'last']),
    indexStaleUs: DURATION,
    frozenHaircutPpm: PPM,
    maxOriginatorFeePpm: PPM,
    maxDelegateOriginatorFeePpm: PPM,
    vaultFeeSharePpm: PPM,
    insuranceFeeSharePpm: PPM,
    insuranceHourlyPpm: PPM,
    liquidationFeePpm: PPM,
    partialLiquidationNotional: QUANTA,
    liquidationSlicePpm: PPM,
    liquidationPauseUs: DURATION,
    minVaultDeposit: QUANTA,
    vaultLockupUs: DURATION,
    vaultLeavePpm: PPM,
    termsNoticeUs: DURATION,
    marketDataTimeUnit: word(['ms', 's']),
    orderTypeCase: word(['camel', 'pascal']),
    rateLimit: BOOLEAN,
    retention: record<RetentionConfig>({
      tradesPerMarket: COUNT,
      candleMinutesPerMarket: COUNT,
      endedOrdersPerAccount: COUNT,
      transfersPerSubaccount: COUNT,
      vaultSnapshotsPerHolder: COUNT,
    }),
  }),
  section: 'config',
};
