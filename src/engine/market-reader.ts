/** What readers see of prices and of the money behind the exchange's claims: computed when asked, nothing changes. */
import { floorDiv, maxBig, minBig } from '../num/arithmetic.ts';
import { PPM, priceTicks, quanta, timeUs, type PriceTicks } from '../num/units.ts';
import type { Market } from './market/market.ts';
import { fundingRate } from './risk/funding.ts';
import { impactPrice } from './risk/impact-price.ts';
import { isPastInsuranceHour } from './risk/insurance-hour.ts';
import { vaultValue } from './risk/vault.ts';
import type { State } from './state.ts';
import type { FundingOutlookView, FundsView, MarkCompositionView } from './views.ts';

const MICRO = 1_000_000;

export function markComposition(market: Market): MarkCompositionView {
  const { indexTicks: index, lastTicks: last, spec } = market;
  const isMedian = spec.markSource === 'median';
  const { impactNotional } = spec.funding;
  const bid = impactPrice(market, 1, impactNotional);
  const ask = impactPrice(market, -1, impactNotional);
  const impactBid = bid === null ? null : Math.max(1, Number(bid.ticks / bid.of));
  const impactAsk = ask === null ? null : Number((ask.ticks + ask.of - 1n) / ask.of);
  const room = index === null ? 0 : floorDiv(index * spec.maxMarkDeviationPpm, PPM);
  const isClamped = index !== null && spec.markSource !== 'external';
  const clipped =
    last === null || impactBid === null || impactAsk === null
      ? null
      : Math.max(impactBid, Math.min(impactAsk, last));
  return {
    indexTicks: index,
    smoothedTicks:
      isMedian && index !== null
        ? ticks(Math.max(1, index + floorDiv(market.emaMicroTicks, MICRO)))
        : null,
    lastTicks: isMedian ? ticks(clipped) : spec.markSource === 'last' ? last : null,
    impactBidTicks: ticks(impactBid),
    impactAskTicks: ticks(impactAsk),
    lowestTicks: isClamped ? ticks(Math.max(1, index - room)) : null,
    highestTicks: isClamped ? ticks(Math.max(1, index + room)) : null,
  };
}

function ticks(value: number): PriceTicks;
function ticks(value: number | null): PriceTicks | null;
function ticks(value: number | null): PriceTicks | null {
  return value === null ? null : priceTicks(value);
}

export function fundingOutlook(state: State, market: Market): FundingOutlookView {
  const { funding, tiers } = market.spec;
  const [tier] = tiers;
  if (funding.source === 'external' || market.status === 'delisted' || tier === undefined) {
    return { nextUs: null, indicativePpb: null, samples: 0 };
  }
  const { premiumSum, premiumCount: samples } = market;
  // Samples that fill the interval: the rate of their mean, however few there are.
  const filled = { ...funding, sampleIntervalUs: funding.intervalUs };
  return {
    nextUs: timeUs((floorDiv(state.nowUs, funding.intervalUs) + 1) * funding.intervalUs),
    indicativePpb: samples === 0 ? null : fundingRate(filled, tier, premiumSum, samples),
    samples,
  };
}

export function fundsOf(state: State): FundsView {
  const { shortfall, insurance, config } = state;
  const isPast = isPastInsuranceHour(state);
  const base: bigint = isPast ? insurance.cash : state.insuranceBase;
  const paid: bigint = isPast ? 0n : state.insurancePaid;
  const left = (base * BigInt(config.insuranceHourlyPpm)) / BigInt(PPM) - paid;
  return {
    shortfallQuanta: shortfall.cash,
    shortfallSinceUs: shortfall.cash < 0n ? state.shortfallSinceUs : null,
    insuranceQuanta: insurance.cash,
    insuranceAllowanceQuanta: quanta(maxBig(0n, minBig(left, insurance.cash))),
    vaultValueQuanta: quanta(vaultValue(state, 'burn')),
    vaultShares: state.vaultShares,
  };
}
