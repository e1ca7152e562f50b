/** Parameters as configuration text: inverse of `parseExchangeConfig`, `parseMarketSpec`. */
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../gateway/exchange-config.ts';
import { parseMarketSpec } from '../../gateway/market-config.ts';
import { overPredefined } from '../../gateway/market-list.ts';
import { termsText } from '../../gateway/market-text.ts';
import { formatDecimal } from '../../num/decimal.ts';
import { formatTime } from '../../num/time-text.ts';
import { COLLATERAL_DECIMALS } from '../../num/units.ts';

export type Terms = Readonly<Record<string, unknown>>;

/** Start time as UTC text; null for the default start time of scenarios. */
export function startText({ genesisTimeUs }: ExchangeConfig): string | null {
  if (genesisTimeUs === DEFAULT_EXCHANGE_CONFIG.genesisTimeUs) return null;
  return formatTime(genesisTimeUs);
}

/** Parameters that differ from the defaults. */
export function configTerms(config: ExchangeConfig): Terms {
  return difference(allConfigTerms(config), allConfigTerms(DEFAULT_EXCHANGE_CONFIG));
}

/** Symbol, feed, tick and lot, and terms that differ from those of the symbol, or the defaults. */
export function marketTerms(spec: MarketSpec): Terms {
  const { symbol, feedId, tickSize, lotSize } = spec;
  const named = { symbol, feedId, tickSize, lotSize };
  const plain = parseMarketSpec(overPredefined(named), () => feedId.slice(2));
  const differing = plain.ok
    ? difference(termsText(spec), termsText(plain.value))
    : termsText(spec);
  // A single tier is written as two rates.
  return { ...named, ...differing };
}

function allConfigTerms(config: ExchangeConfig): Terms {
  return {
    name: config.name,
    chainId: String(config.chainId),
    selfTradeExpire: String(config.selfTradeExpire),
    triggerSource: config.triggerSource,
    indexStaleMs: millis(config.indexStaleUs),
    samplingSeed: config.samplingSeed,
    frozenHaircut: ppm(config.frozenHaircutPpm),
    insuranceHourly: ppm(config.insuranceHourlyPpm),
    vaultLeaveShare: ppm(config.vaultLeavePpm),
    termsNoticeMs: millis(config.termsNoticeUs),
    maxOriginatorFeePpm: String(config.maxOriginatorFeePpm),
    maxDelegateOriginatorFeePpm: String(config.maxDelegateOriginatorFeePpm),
    vaultFeeShare: ppm(config.vaultFeeSharePpm),
    insuranceFeeShare: ppm(config.insuranceFeeSharePpm),
    liquidationFee: ppm(config.liquidationFeePpm),
    partialLiquidationNotional: money(config.partialLiquidationNotional),
    liquidationSlice: ppm(config.liquidationSlicePpm),
    liquidationPauseMs: millis(config.liquidationPauseUs),
    minVaultDeposit: money(config.minVaultDeposit),
    vaultLockupMs: millis(config.vaultLockupUs),
    marketDataTimeUnit: config.marketDataTimeUnit,
    orderTypeCase: config.orderTypeCase,
    retention: Object.fromEntries(
      Object.entries(config.retention).map(([name, kept]) => [name, String(kept)]),
    ),
  };
}

function difference(terms: Terms, defaults: Terms): Terms {
  return Object.fromEntries(
    Object.entries(terms).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(defaults[name]),
    ),
  );
}

const ppm = (value: number): string => formatDecimal(BigInt(value), 6);
const money = (value: bigint): string => formatDecimal(value, COLLATERAL_DECIMALS);
const millis = (us: number): string => String(Math.floor(us / 1000));
