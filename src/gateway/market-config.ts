/**
 * Market parameters from decimal text, with the rulebook's defaults (R-1.3, §5, §7). Errors name
 * the field and the limit; results pass the checks at listing.
 */
import type { MarketSpec, MarginTier } from '../engine/config.ts';
import { formatDecimal, powerOfTen, stepsFloor, type Decimal } from '../num/decimal.ts';
import {
  COLLATERAL_DECIMALS,
  durationUs,
  lots,
  MAX_PRICE_TICKS,
  ppb,
  ppm,
  priceTicks,
  quanta,
  type Ppm,
} from '../num/units.ts';
import {
  count,
  flag,
  inLots,
  inQuanta,
  optionalAmount,
  positive,
  rate,
  ratePpb,
  word,
} from './config-values.ts';
import { Fields } from './fields.ts';
import {
  parseDeviation,
  parseInitialMark,
  parseMarkSource,
  parseOpenNotionals,
} from './mark-fields.ts';
import { parsed, type Parsed } from './parsed.ts';
import type { Keccak } from './ports.ts';

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
