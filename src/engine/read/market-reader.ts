/** Reads of prices and of the funds behind the exchange's liabilities. */
import { floorDivInt } from '../../num/arithmetic.ts';
import { PPM, priceTicks, quanta, timeUs, type PriceTicks } from '../../num/units.ts';
import type { Market } from '../market/market.ts';
import { fundingRate, hasWaitingHolder, payableRate } from '../funding/funding.ts';
import { impactPrice } from '../pricing/impact-price.ts';
import { insuranceAllowance } from '../liquidation/insurance.ts';
import { clippedLast, smoothedIndex } from '../pricing/recompute-mark.ts';
import { vaultValue } from '../vault/vault.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { FundingOutlookView, FundsView, MarkCompositionView } from './views.ts';

export function markComposition(state: ExchangeState, market: Market): MarkCompositionView {
  const { indexTicks: index, spec } = market;
  const isMedian = spec.markSource === 'median';
  const { impactNotional } = spec.funding;
  const bid = impactPrice(state, market, 1, impactNotional);
  const ask = impactPrice(state, market, -1, impactNotional);
  const impactBid = bid === null ? null : Math.max(1, Number(bid.ticks / bid.of));
  const impactAsk = ask === null ? null : Number((ask.ticks + ask.of - 1n) / ask.of);
  const last = spec.markSource === 'last' ? market.lastTicks : null;
  const deviation = index === null ? 0 : floorDivInt(index * spec.maxMarkDeviationPpm, PPM);
  const isClamped = index !== null && spec.markSource !== 'external';
  return {
    indexTicks: index,
    smoothedTicks: isMedian && index !== null ? smoothedIndex(market, index) : null,
    lastTicks: isMedian ? ticks(clippedLast(state, market)) : last,
    impactBidTicks: ticks(impactBid),
    impactAskTicks: ticks(impactAsk),
    lowestTicks: isClamped ? ticks(Math.max(1, index - deviation)) : null,
    highestTicks: isClamped ? ticks(Math.max(1, index + deviation)) : null,
  };
}

function ticks(value: number): PriceTicks;
function ticks(value: number | null): PriceTicks | null;
function ticks(value: number | null): PriceTicks | null {
  return value === null ? null : priceTicks(value);
}

export function fundingOutlook(state: ExchangeState, market: Market): FundingOutlookView {
  const { funding, tiers } = market.spec;
  const [tier] = tiers;
  if (funding.source === 'external' || market.status === 'delisted' || tier === undefined) {
    return { nextUs: null, indicativePpb: null, samples: 0 };
  }
  const { premiumSum, premiumCount: samples } = market;
  // A config in which any number of samples fills the interval: gives the rate of their mean.
  const filled = { ...funding, sampleIntervalUs: funding.intervalUs };
  const rate = fundingRate(filled, tier, premiumSum, samples);
  const waits = hasWaitingHolder(state, market);
  const { markTicks, lowestMaintenancePpm: maintenancePpm } = market;
  const tested = { markTicks, maintenancePpm };
  return {
    nextUs: timeUs((floorDivInt(state.nowUs, funding.intervalUs) + 1) * funding.intervalUs),
    indicativePpb: samples === 0 ? null : payableRate(market, rate, tested, waits),
    samples,
  };
}

export function fundsOf(state: ExchangeState): FundsView {
  const { shortfall, insurance } = state;
  return {
    shortfallQuanta: shortfall.cash,
    shortfallSinceUs: shortfall.cash < 0n ? state.shortfallSinceUs : null,
    insuranceQuanta: insurance.cash,
    insuranceAllowanceQuanta: quanta(insuranceAllowance(state, null)),
    vaultValueQuanta: quanta(vaultValue(state, 'burn')),
    vaultShares: state.vaultShares,
  };
}
