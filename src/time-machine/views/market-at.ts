/** A market at an instant: prices, how the mark is made, funding and terms, as text. */
import type { ExchangeView } from '../../engine/read/views.ts';
import { fraction, priceText, sizeText } from '../../gateway/encode.ts';
import { formatDecimal } from '../../num/decimal.ts';
import type { MarketId } from '../../num/units.ts';

export interface MarketAt {
  readonly id: number;
  readonly symbol: string;
  readonly status: string;
  readonly frozenSinceUs: number | null;
  readonly tickSize: string;
  readonly lotSize: string;
  readonly mark: string | null;
  readonly markTicks: number | null;
  readonly index: string | null;
  readonly indexTicks: number | null;
  readonly last: string | null;
  readonly bestBid: string | null;
  readonly bestAsk: string | null;
  readonly openInterest: string;
  /** Rate in force for an interval, and that of the samples so far; as fractions. */
  readonly fundingRate: string;
  readonly nextFundingUs: number | null;
  readonly indicativeFundingRate: string | null;
  readonly fundingSamples: number;
  /** How the mark is made: its source, and each part as text or null. */
  readonly markSource: string;
  readonly markParts: Readonly<Record<string, string | null>>;
  /** Margin tiers: notional from which the rates apply, and the rates. */
  readonly tiers: readonly {
    readonly floor: string;
    readonly initial: string;
    readonly maintenance: string;
  }[];
}

const MONEY_DECIMALS = 6;
const RATE_DECIMALS = 9;

export function marketAt(view: ExchangeView, id: MarketId): MarketAt {
  const market = view.market(id);
  const { spec } = market;
  const price = (ticks: number | null): string | null =>
    ticks === null ? null : priceText(market, ticks);
  const outlook = view.fundingOutlook(id);
  const parts = view.markComposition(id);
  const rate = (ppb: number): string => formatDecimal(BigInt(ppb), RATE_DECIMALS);
  return {
    id,
    symbol: spec.symbol,
    status: market.status,
    frozenSinceUs: market.frozenSinceUs,
    tickSize: spec.tickSize,
    lotSize: spec.lotSize,
    mark: price(market.markTicks),
    markTicks: market.markTicks,
    index: price(market.indexTicks),
    indexTicks: market.indexTicks,
    last: price(market.lastTicks),
    bestBid: price(market.bestBid?.priceTicks ?? null),
    bestAsk: price(market.bestAsk?.priceTicks ?? null),
    openInterest: sizeText(market, market.openInterestLots),
    fundingRate: rate(market.fundingRatePpb),
    nextFundingUs: outlook.nextUs,
    indicativeFundingRate: outlook.indicativePpb === null ? null : rate(outlook.indicativePpb),
    fundingSamples: outlook.samples,
    markSource: spec.markSource,
    markParts: {
      index: price(parts.indexTicks),
      smoothed: price(parts.smoothedTicks),
      last: price(parts.lastTicks),
      impactBid: price(parts.impactBidTicks),
      impactAsk: price(parts.impactAskTicks),
      lowest: price(parts.lowestTicks),
      highest: price(parts.highestTicks),
    },
    tiers: spec.tiers.map((tier) => ({
      floor: formatDecimal(tier.floorQuanta, MONEY_DECIMALS),
      initial: fraction(tier.initialMarginPpm),
      maintenance: fraction(tier.maintenanceMarginPpm),
    })),
  };
}
