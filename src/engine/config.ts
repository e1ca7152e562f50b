/**
 * Parameters of an exchange and of a market, in engine units, as in the journal header and
 * `listMarket`. The gateway parses text and applies defaults. Rules, §7, R-8.1.
 */
import type {
  Address,
  DurationUs,
  Lots,
  Ppb,
  Ppm,
  PriceTicks,
  Quanta,
  TimeUs,
} from '../num/units.ts';

/** Order that ends at a self-trade: 0 incoming, 1 resting, 2 both. */
export type SelfTradeMode = 0 | 1 | 2;

export type TriggerSource = 'mark' | 'index' | 'last';
/** Source of a market's mark (R-5.3, R-5.3a). `median` is the three-leg rule. */
export type MarkSource = 'median' | 'index' | 'last' | 'mid' | 'external';
/** Source of a market's index (R-5.3a). */
export type IndexSource = 'oracle' | 'mid' | 'external';
export type FundingSource = 'premium' | 'external';
/** Orders that a market accepts; `halted` also freezes it, `delisted` is final. */
export const MARKET_STATUSES = [
  'open',
  'postOnly',
  'reduceOnly',
  'cancelOnly',
  'halted',
  'delisted',
] as const;
export type MarketStatus = (typeof MARKET_STATUSES)[number];

/** Split of a decrease of historical volume ahead of and behind user orders. */
export type QueueModel = 'riskAverse' | 'probPower1' | 'probPower2' | 'probPower3' | 'probLog';
/**
 * Return of taken liquidity to the book: at the next update, only as new volume, or by halves.
 * `squareRoot`: only as new volume, and taking hides levels near the best.
 */
export type ImpactModel = 'none' | 'permanent' | 'halving' | 'squareRoot';

export interface ExchangeConfig {
  readonly name: string;
  readonly chainId: number;
  readonly verifyingContract: Address;
  /** Timers start here. */
  readonly genesisTimeUs: TimeUs;
  /** 0x and 64 hex digits: the feed id that denotes the collateral in transfers. */
  readonly cashFeedId: string;
  readonly clsAccount: Address;
  readonly insuranceAccount: Address;
  readonly treasuryAccount: Address;
  /** Holds deficits that insurance and counterparties could not pay; never above zero. */
  readonly shortfallAccount: Address;
  /** 16 hex digits: secret key of the price sampling times; not in the API. */
  readonly samplingSeed: string;
  readonly selfTradeExpire: SelfTradeMode;
  readonly triggerSource: TriggerSource;
  /** A market whose price source is older than this is frozen (R-5.3b). */
  readonly indexStaleUs: DurationUs;
  /** Part of the notional of frozen positions that cannot be withdrawn or used to open. */
  readonly frozenHaircutPpm: Ppm;
  readonly maxOriginatorFeePpm: Ppm;
  readonly maxDelegateOriginatorFeePpm: Ppm;
  readonly vaultFeeSharePpm: Ppm;
  readonly insuranceFeeSharePpm: Ppm;
  /**
   * Max payout of insurance in a UTC hour, as a part of its balance at the hour's start.
   */
  readonly insuranceHourlyPpm: Ppm;
  readonly liquidationFeePpm: Ppm;
  /** Larger positions are liquidated in slices of this part, with pauses. */
  readonly partialLiquidationNotional: Quanta;
  readonly liquidationSlicePpm: Ppm;
  readonly liquidationPauseUs: DurationUs;
  /** Min deposit to the vault. */
  readonly minVaultDeposit: Quanta;
  readonly vaultLockupUs: DurationUs;
  /** Part of a position that the vault offers each minute; 0: it offers none. */
  readonly vaultLeavePpm: Ppm;
  /** Notice before higher maintenance rates apply. */
  readonly termsNoticeUs: DurationUs;
  readonly marketDataTimeUnit: 'ms' | 's';
  readonly orderTypeCase: 'camel' | 'pascal';
  /** Whether the rate limit of 200 per second applies under a virtual clock. */
  readonly rateLimit: boolean;
  /** History kept in memory; outside the state hash. */
  readonly retention: RetentionConfig;
}

export interface RetentionConfig {
  readonly tradesPerMarket: number;
  readonly candleMinutesPerMarket: number;
  readonly endedOrdersPerAccount: number;
  readonly transfersPerSubaccount: number;
  readonly vaultSnapshotsPerHolder: number;
}

export interface MarginTier {
  /** Notional from which the rates apply; the first tier starts at 0. */
  readonly floorQuanta: Quanta;
  readonly initialMarginPpm: Ppm;
  readonly maintenanceMarginPpm: Ppm;
}

export interface FundingConfig {
  readonly source: FundingSource;
  readonly sampleIntervalUs: DurationUs;
  readonly intervalUs: DurationUs;
  /** Interest per `rateIntervalUs`, clamped around the premium by `interestClampPpb`. */
  readonly interestPpb: Ppb;
  readonly interestClampPpb: Ppb;
  /** rateInterval / interval; premium and interest are quoted for the rate interval (8 h). */
  readonly divisor: number;
  readonly capPpm: Ppm;
  /** The rate is also at most this part of (initial − maintenance). */
  readonly marginCapPpm: Ppm;
  readonly impactNotional: Quanta;
}

export interface MarketSpec {
  readonly symbol: string;
  /** 0x and 64 hex digits. */
  readonly feedId: string;
  /** Decimal text of one tick and one lot, for reads; the engine never parses it. */
  readonly tickSize: string;
  readonly lotSize: string;
  /** tickSize × lotSize in Quanta: a whole number ≥ 1. */
  readonly quantaPerTickLot: number;
  readonly minLots: Lots;
  readonly maxLots: Lots;
  readonly maxPriceTicks: PriceTicks;
  readonly maxOpenOrders: number;
  readonly maxOpenInterestLots: Lots;
  /** The same limit as money, converted to lots at the market's first price; null for none. */
  readonly maxOpenInterestNotional: Quanta | null;
  readonly priceBandPpm: Ppm;
  /** At least one tier, floors ascending from 0. */
  readonly tiers: readonly MarginTier[];
  /** May be negative (a rebate), not below −takerFeePpm. */
  readonly makerFeePpm: Ppm;
  readonly takerFeePpm: Ppm;
  readonly markSource: MarkSource;
  readonly indexSource: IndexSource;
  readonly maxMarkDeviationPpm: Ppm;
  /** Mark until there is a last price or a mid; only for these two sources. */
  readonly initialMarkTicks: PriceTicks | null;
  /** Whether the market's prices come from recorded liquidity. */
  readonly recordedLiquidity: boolean;
  /** Distance from mark and index at which the vault offers its positions. */
  readonly vaultQuotePpm: Ppm;
  /** As in `ExchangeConfig`, for deficits of this market. */
  readonly insuranceHourlyPpm: Ppm;
  /**
   * Open notional at which the initial rate starts to rise to 100 % (R-13.4); null: it never rises.
   */
  readonly openNotionalLower: Quanta | null;
  readonly openNotionalUpper: Quanta | null;
  readonly funding: FundingConfig;
  readonly queueModel: QueueModel;
  readonly impactModel: ImpactModel;
  /** Half-life of displacement under `halving`, and of own volume under `squareRoot`. */
  readonly impactHalfLifeUs: DurationUs;
}
