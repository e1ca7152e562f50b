/**
 * Exchange and market parameters from decimal text, with the rulebook's defaults (R-1.2, R-1.3, §5,
 * §7). Errors name the field and the limit; results pass the checks at listing.
 */
import { configHash } from '../engine/snapshot/config-archive.ts';
import type { ExchangeConfig, MarketSpec, MarginTier } from '../engine/config.ts';
import { formatDecimal, powerOfTen, stepsFloor, type Decimal } from '../num/decimal.ts';
import {
  address,
  COLLATERAL_DECIMALS,
  durationUs,
  lots,
  MAX_PRICE_TICKS,
  ppb,
  ppm,
  priceTicks,
  quanta,
  timeUs,
  type Ppm,
} from '../num/units.ts';
import {
  amount,
  count,
  flag,
  inLots,
  inQuanta,
  millis,
  optionalAmount,
  positive,
  rate,
  ratePpb,
  samplingSeed,
  word,
} from './config-values.ts';
import { Fields } from './fields.ts';
import {
  parseDeviation,
  parseInitialMark,
  parseMarkSource,
  parseOpenNotionals,
} from './mark-fields.ts';
import type { Keccak } from './ports.ts';
import { RequestError } from './request-error.ts';

/** A parsed value, or the problem with its field. */
export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

/** A market in user input; numbers are decimal text. */
export interface MarketInput {
  readonly symbol: string;
  readonly tickSize: string;
  readonly lotSize: string;
  readonly [field: string]: unknown;
}

/** */
export const DEFAULT_MARKETS: readonly MarketInput[] = [
  {
    symbol: 'BTC-USD-PERP',
    tickSize: '0.1',
    lotSize: '0.0001',
    initialMargin: '0.02',
    maintenanceMargin: '0.01',
    maxOpenInterestNotional: '100000000',
  },
  {
    symbol: 'ETH-USD-PERP',
    tickSize: '0.01',
    lotSize: '0.001',
    initialMargin: '0.02',
    maintenanceMargin: '0.01',
    maxOpenInterestNotional: '100000000',
  },
  {
    symbol: 'SOL-USD-PERP',
    tickSize: '0.001',
    lotSize: '0.01',
    initialMargin: '0.05',
    maintenanceMargin: '0.025',
    maxOpenInterestNotional: '100000000',
  },
];

export const DEFAULT_EXCHANGE_CONFIG: ExchangeConfig = {
  name: 'Orrery',
  chainId: 1337,
  verifyingContract: address('0x0000000000000000000000000000000000000000'),
  genesisTimeUs: timeUs(1_704_067_200_000_000),
  cashFeedId: '0x0000000000000000000000000000000000000000000000000000000000000000',
  clsAccount: address('0xc15c15c15c15c15c15c15c15c15c15c15c15c15c'),
  insuranceAccount: address('0x1150000000000000000000000000000000000001'),
  treasuryAccount: address('0x7ea5000000000000000000000000000000000001'),
  shortfallAccount: address('0x5f00000000000000000000000000000000000001'),
  samplingSeed: '0000000000000000',
  selfTradeExpire: 0,
  triggerSource: 'mark',
  indexStaleUs: durationUs(60_000_000),
  frozenHaircutPpm: ppm(500_000),
  maxOriginatorFeePpm: ppm(1000),
  maxDelegateOriginatorFeePpm: ppm(100),
  vaultFeeSharePpm: ppm(500_000),
  insuranceFeeSharePpm: ppm(200_000),
  insuranceHourlyPpm: ppm(250_000),
  liquidationFeePpm: ppm(5000),
  partialLiquidationNotional: quanta(100_000_000_000n),
  liquidationSlicePpm: ppm(200_000),
  liquidationPauseUs: durationUs(30_000_000),
  minVaultDeposit: quanta(10_000_000n),
  vaultLockupUs: durationUs(4 * 86_400_000_000),
  vaultLeavePpm: ppm(50_000),
  termsNoticeUs: durationUs(86_400_000_000),
  marketDataTimeUnit: 'ms',
  orderTypeCase: 'camel',
  rateLimit: false,
  retention: {
    tradesPerMarket: 100_000,
    candleMinutesPerMarket: 64_800,
    endedOrdersPerAccount: 10_000,
    transfersPerSubaccount: 10_000,
    vaultSnapshotsPerHolder: 10_000,
  },
};

const EXCHANGE_FIELDS = [
  'name',
  'chainId',
  'verifyingContract',
  'clsAccount',
  'cashFeedId',
  'rateLimit',
  'selfTradeExpire',
  'triggerSource',
  'indexStaleMs',
  'samplingSeed',
  'frozenHaircut',
  'insuranceHourly',
  'vaultLeaveShare',
  'termsNoticeMs',
  'maxOriginatorFeePpm',
  'maxDelegateOriginatorFeePpm',
  'vaultFeeShare',
  'insuranceFeeShare',
  'liquidationFee',
  'partialLiquidationNotional',
  'liquidationSlice',
  'liquidationPauseMs',
  'minVaultDeposit',
  'vaultLockupMs',
  'marketDataTimeUnit',
  'orderTypeCase',
  'retention',
];
const RETENTION_FIELDS = [
  'tradesPerMarket',
  'candleMinutesPerMarket',
  'endedOrdersPerAccount',
  'transfersPerSubaccount',
  'vaultSnapshotsPerHolder',
];

/** Min retained records: a reply includes orders that its own command ended. */
const MIN_RETAINED: Readonly<Record<keyof ExchangeConfig['retention'], number>> = {
  tradesPerMarket: 1,
  candleMinutesPerMarket: 1,
  endedOrdersPerAccount: 1000,
  transfersPerSubaccount: 1,
  vaultSnapshotsPerHolder: 1,
};

/** Exchange parameters: the given values over the defaults. `keccak` checks address checksums. */
export function parseExchangeConfig(
  input: unknown,
  genesisTimeUs = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs,
  keccak?: Keccak,
): Parsed<ExchangeConfig> {
  return parsed(() => {
    const fields = new Fields(input, EXCHANGE_FIELDS, true, 'config');
    const base = DEFAULT_EXCHANGE_CONFIG;
    const retention = fields.has('retention') ? fields.object('retention', RETENTION_FIELDS) : null;
    const kept = (name: keyof ExchangeConfig['retention']): number =>
      retention?.has(name) === true
        ? count(retention, name, MIN_RETAINED[name], 1e8)
        : base.retention[name];
    const config: ExchangeConfig = {
      ...base,
      genesisTimeUs,
      name: fields.has('name') ? fields.symbol('name') : base.name,
      chainId: fields.has('chainId') ? count(fields, 'chainId', 0, 2 ** 31) : base.chainId,
      verifyingContract: fields.has('verifyingContract')
        ? fields.address('verifyingContract', keccak)
        : base.verifyingContract,
      clsAccount: fields.has('clsAccount') ? fields.address('clsAccount', keccak) : base.clsAccount,
      cashFeedId: fields.has('cashFeedId') ? fields.feedId('cashFeedId') : base.cashFeedId,
      rateLimit: flag(fields, 'rateLimit', base.rateLimit),
      selfTradeExpire: fields.has('selfTradeExpire')
        ? (count(fields, 'selfTradeExpire', 0, 2) as 0 | 1 | 2)
        : base.selfTradeExpire,
      indexStaleUs: fields.has('indexStaleMs')
        ? durationUs(count(fields, 'indexStaleMs', 1, 1e10) * 1000)
        : base.indexStaleUs,
      samplingSeed: fields.has('samplingSeed')
        ? samplingSeed(fields, 'samplingSeed')
        : base.samplingSeed,
      frozenHaircutPpm: rate(fields, 'frozenHaircut', base.frozenHaircutPpm, 0, 1_000_000),
      insuranceHourlyPpm: rate(fields, 'insuranceHourly', base.insuranceHourlyPpm, 0, 1_000_000),
      vaultLeavePpm: rate(fields, 'vaultLeaveShare', base.vaultLeavePpm, 0, 1_000_000),
      termsNoticeUs: millis(fields, 'termsNoticeMs', 0, base.termsNoticeUs),
      maxOriginatorFeePpm: fields.has('maxOriginatorFeePpm')
        ? ppm(count(fields, 'maxOriginatorFeePpm', 0, 100_000))
        : base.maxOriginatorFeePpm,
      maxDelegateOriginatorFeePpm: fields.has('maxDelegateOriginatorFeePpm')
        ? ppm(count(fields, 'maxDelegateOriginatorFeePpm', 0, 100_000))
        : base.maxDelegateOriginatorFeePpm,
      triggerSource: word(fields, 'triggerSource', ['mark', 'index', 'last'], base.triggerSource),
      vaultFeeSharePpm: rate(fields, 'vaultFeeShare', base.vaultFeeSharePpm, 0, 1_000_000),
      insuranceFeeSharePpm: rate(
        fields,
        'insuranceFeeShare',
        base.insuranceFeeSharePpm,
        0,
        1_000_000,
      ),
      liquidationFeePpm: rate(fields, 'liquidationFee', base.liquidationFeePpm, 0, 500_000),
      partialLiquidationNotional: amount(
        fields,
        'partialLiquidationNotional',
        base.partialLiquidationNotional,
      ),
      liquidationSlicePpm: rate(fields, 'liquidationSlice', base.liquidationSlicePpm, 1, 1_000_000),
      liquidationPauseUs: millis(fields, 'liquidationPauseMs', 0, base.liquidationPauseUs),
      minVaultDeposit: amount(fields, 'minVaultDeposit', base.minVaultDeposit),
      vaultLockupUs: millis(fields, 'vaultLockupMs', 0, base.vaultLockupUs),
      marketDataTimeUnit: word(fields, 'marketDataTimeUnit', ['ms', 's'], base.marketDataTimeUnit),
      orderTypeCase: word(fields, 'orderTypeCase', ['camel', 'pascal'], base.orderTypeCase),
      retention: {
        tradesPerMarket: kept('tradesPerMarket'),
        candleMinutesPerMarket: kept('candleMinutesPerMarket'),
        endedOrdersPerAccount: kept('endedOrdersPerAccount'),
        transfersPerSubaccount: kept('transfersPerSubaccount'),
        vaultSnapshotsPerHolder: kept('vaultSnapshotsPerHolder'),
      },
    };
    const others: readonly string[] = [
      config.insuranceAccount,
      config.treasuryAccount,
      config.shortfallAccount,
    ];
    if (others.includes(config.clsAccount)) {
      fields.fail('clsAccount', 'is another account of the exchange');
    }
    if (config.vaultFeeSharePpm + config.insuranceFeeSharePpm > 1_000_000) {
      fields.fail('insuranceFeeShare', 'with vaultFeeShare must be at most 1');
    }
    // Fails here, not when a journal header is written, if the configuration has no canonical form.
    configHash(config);
    return config;
  });
}

const MARKET_FIELDS = [
  'symbol',
  'feedId',
  'tickSize',
  'lotSize',
  'minQuantity',
  'maxQuantity',
  'maxPrice',
  'maxOpenOrders',
  'maxOpenInterest',
  'maxOpenInterestNotional',
  'priceBand',
  'initialMargin',
  'maintenanceMargin',
  'marginTiers',
  'makerFee',
  'takerFee',
  'markSource',
  'indexSource',
  'maxMarkDeviation',
  'initialMark',
  'recordedLiquidity',
  'vaultQuote',
  'insuranceHourly',
  'openNotionalLower',
  'openNotionalUpper',
  'funding',
  'queueModel',
  'impactModel',
  'impactHalfLifeMs',
];
const TIER_FIELDS = ['notionalFloor', 'initialMargin', 'maintenanceMargin'];
const FUNDING_FIELDS = [
  'source',
  'sampleIntervalMs',
  'intervalMs',
  'interest',
  'interestClamp',
  'divisor',
  'cap',
  'marginCap',
  'impactNotional',
];
const MAX_NOTIONAL = 2n ** 63n;
/** Default max order size: 10,000,000 of the collateral in notional. */
const DEFAULT_MAX_LOTS = 10_000_000n;

/** Market spec from decimal text. Ratios (`makerFee: "0.0001"`) have at most 6 decimals. */
export function parseMarketSpec(input: unknown, keccak: Keccak): Parsed<MarketSpec> {
  return parsed(() => {
    const fields = new Fields(input, MARKET_FIELDS, true, 'market');
    const symbol = fields.symbol('symbol');
    if (!/^[A-Za-z0-9._-]+$/.test(symbol)) {
      fields.fail('symbol', 'may hold letters, digits, point, dash and underscore');
    }
    const tick = positive(fields, 'tickSize');
    const lot = positive(fields, 'lotSize');
    const quantaPerTickLot = quantaPer(fields, tick, lot);

    const minLots = fields.has('minQuantity') ? inLots(fields, 'minQuantity', lot) : 1n;
    const maxPrice = fields.has('maxPrice')
      ? stepsFloor(positive(fields, 'maxPrice'), tick)
      : BigInt(MAX_PRICE_TICKS);
    if (maxPrice < 1n || maxPrice > BigInt(MAX_PRICE_TICKS)) {
      const max = formatDecimal(BigInt(MAX_PRICE_TICKS) * tick.digits, tick.scale);
      fields.fail('maxPrice', `must be from one tick to ${max} (2^31 − 1 ticks)`);
    }
    const largest = (MAX_NOTIONAL - 1n) / (maxPrice * quantaPerTickLot);
    const maxLots = fields.has('maxQuantity')
      ? inLots(fields, 'maxQuantity', lot)
      : min(DEFAULT_MAX_LOTS, largest);
    if (maxLots > largest || maxLots > BigInt(Number.MAX_SAFE_INTEGER)) {
      const max = formatDecimal(largest * lot.digits, lot.scale);
      fields.fail(
        'maxQuantity',
        `maxQuantity × maxPrice must stay below 2^63 Quanta: at this maxPrice at most ${max}`,
      );
    }
    if (minLots > maxLots) fields.fail('minQuantity', 'must not exceed maxQuantity');
    const openInterest = fields.has('maxOpenInterest')
      ? inLots(fields, 'maxOpenInterest', lot)
      : BigInt(Number.MAX_SAFE_INTEGER);

    const tiers = parseTiers(fields);
    const takerFee = rate(fields, 'takerFee', 350, 0, 100_000);
    const makerFee = rate(fields, 'makerFee', Math.min(100, takerFee), -takerFee, 10_000);
    const firstInitial = tiers[0]?.initialMarginPpm ?? ppm(50_000);
    const markSource = parseMarkSource(fields);
    const recordedLiquidity = flag(fields, 'recordedLiquidity', false);
    const funding = parseFunding(fields, firstInitial);
    const impactModel = word(fields, 'impactModel', IMPACT_MODELS, 'permanent');
    return {
      symbol,
      feedId: fields.has('feedId') ? fields.feedId('feedId') : `0x${keccak(ascii(symbol))}`,
      tickSize: formatDecimal(tick.digits, tick.scale),
      lotSize: formatDecimal(lot.digits, lot.scale),
      quantaPerTickLot: Number(quantaPerTickLot),
      minLots: lots(Number(minLots)),
      maxLots: lots(Number(maxLots)),
      maxPriceTicks: priceTicks(Number(maxPrice)),
      maxOpenOrders: fields.has('maxOpenOrders') ? count(fields, 'maxOpenOrders', 1, 1e6) : 200,
      maxOpenInterestLots: lots(Number(openInterest)),
      maxOpenInterestNotional: optionalAmount(fields, 'maxOpenInterestNotional'),
      priceBandPpm: rate(fields, 'priceBand', 100_000, 1, 1_000_000),
      tiers,
      makerFeePpm: makerFee,
      takerFeePpm: takerFee,
      markSource,
      indexSource: word(fields, 'indexSource', ['oracle', 'mid', 'external'], 'oracle'),
      maxMarkDeviationPpm: parseDeviation(fields, markSource, tiers),
      initialMarkTicks: parseInitialMark(fields, markSource, recordedLiquidity, tick, maxPrice),
      recordedLiquidity,
      vaultQuotePpm: rate(fields, 'vaultQuote', 500, 0, 500_000),
      insuranceHourlyPpm: rate(fields, 'insuranceHourly', 1_000_000, 0, 1_000_000),
      ...parseOpenNotionals(fields),
      funding,
      queueModel: word(
        fields,
        'queueModel',
        ['riskAverse', 'probPower1', 'probPower2', 'probPower3', 'probLog'],
        'probPower2',
      ),
      impactModel,
      impactHalfLifeUs: durationUs(
        fields.has('impactHalfLifeMs')
          ? count(fields, 'impactHalfLifeMs', 1, 1e12) * 1000
          : HALF_LIFE_US[impactModel === 'squareRoot' ? impactModel : 'other'],
      ),
    };
  });
}

const IMPACT_MODELS = ['none', 'permanent', 'halving', 'squareRoot'] as const;
/** Of taken liquidity, and under `squareRoot` of own volume. */
const HALF_LIFE_US = { squareRoot: 3_600_000_000, other: 1_000_000 };

function parseTiers(fields: Fields): MarginTier[] {
  if (!fields.has('marginTiers')) {
    const initial = rate(fields, 'initialMargin', 50_000, 1, 1_000_000);
    const half = Math.ceil(initial / 2);
    return [
      {
        floorQuanta: quanta(0n),
        initialMarginPpm: initial,
        maintenanceMarginPpm: rate(fields, 'maintenanceMargin', half, 0, initial),
      },
    ];
  }
  if (fields.has('initialMargin') || fields.has('maintenanceMargin')) {
    fields.fail('marginTiers', 'cannot be combined with initialMargin or maintenanceMargin');
  }
  const value = fields.get('marginTiers');
  if (!Array.isArray(value) || value.length === 0) {
    fields.fail('marginTiers', 'must be a list of at least one tier');
  }
  const entries: readonly unknown[] = value;
  let last = -1n;
  return entries.map((entry, i) => {
    const tier = new Fields(entry, TIER_FIELDS, true, `market.marginTiers[${String(i)}]`);
    const floor = inQuanta(tier, 'notionalFloor');
    if (i === 0 ? floor !== 0n : floor <= last) {
      tier.fail('notionalFloor', 'the first tier starts at 0, each later one above the one before');
    }
    last = floor;
    const initial = rate(tier, 'initialMargin', -1, 1, 1_000_000);
    return {
      floorQuanta: quanta(floor),
      initialMarginPpm: initial,
      maintenanceMarginPpm: rate(tier, 'maintenanceMargin', Math.ceil(initial / 2), 0, initial),
    };
  });
}

/** a sample every 5 s, hourly settlement, 0.01 % per 8 h clamped to 0.05 %. */
function parseFunding(fields: Fields, initial: Ppm): MarketSpec['funding'] {
  const funding = fields.has('funding') ? fields.object('funding', FUNDING_FIELDS) : null;
  const has = (name: string): boolean => funding?.has(name) === true;
  const at = funding ?? fields;
  const parsed = {
    source: has('source') ? word(at, 'source', ['premium', 'external'], 'premium') : 'premium',
    sampleIntervalUs: durationUs(
      has('sampleIntervalMs') ? count(at, 'sampleIntervalMs', 1, 1e9) * 1000 : 5_000_000,
    ),
    intervalUs: durationUs(
      has('intervalMs') ? count(at, 'intervalMs', 1, 1e10) * 1000 : 3_600_000_000,
    ),
    interestPpb: has('interest') ? ratePpb(at, 'interest', -1, 1) : ppb(100_000),
    interestClampPpb: has('interestClamp') ? ratePpb(at, 'interestClamp', 0, 1) : ppb(500_000),
    divisor: has('divisor') ? count(at, 'divisor', 1, 1e6) : 8,
    capPpm: has('cap') ? rate(at, 'cap', 40_000, 0, 1_000_000) : ppm(40_000),
    marginCapPpm: has('marginCap') ? rate(at, 'marginCap', 750_000, 0, 100_000_000) : ppm(750_000),
    impactNotional: quanta(
      has('impactNotional')
        ? inQuanta(at, 'impactNotional')
        : (500_000_000n * 1_000_000n) / BigInt(initial),
    ),
  } as const;
  if (parsed.sampleIntervalUs > parsed.intervalUs) {
    at.fail('sampleIntervalMs', 'must not exceed intervalMs');
  }
  if (parsed.impactNotional < 1n) at.fail('impactNotional', 'must be positive');
  return parsed;
}

function quantaPer(fields: Fields, tick: Decimal, lot: Decimal): bigint {
  const scale = tick.scale + lot.scale;
  const product = tick.digits * lot.digits;
  const scaled = product * powerOfTen(COLLATERAL_DECIMALS);
  const divisor = powerOfTen(scale);
  if (scaled % divisor !== 0n) {
    const text = formatDecimal(product, scale);
    const problem = `tickSize × lotSize = ${text} is finer than the collateral's`;
    const needed = text.length - text.indexOf('.') - 1;
    const have = String(COLLATERAL_DECIMALS);
    fields.fail('lotSize', `${problem} ${have} decimals; it would need ${String(needed)}`);
  }
  const whole = scaled / divisor;
  if (whole > 1_000_000_000_000n) {
    fields.fail('lotSize', 'tickSize × lotSize must be at most 1000000');
  }
  return whole;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function parsed<T>(parse: () => T): Parsed<T> {
  try {
    return { ok: true, value: parse() };
  } catch (error) {
    if (error instanceof RequestError) return { ok: false, error: error.message };
    throw error;
  }
}
