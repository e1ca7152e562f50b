/**
 * Funding (§7): premium samples, the rate of an interval, and its settlement over all positions.
 *
 * Rates are whole 1e-9, rounded toward zero. Payments round up, receipts round down, and insurance
 * gets the difference, so a settlement sums to zero with insurance. Sampling stops when no premium
 * exists (no index, a thin side, or a freeze). It restarts with the next change of book or index,
 * the only events that can end such a state.
 */
import { minBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { lots, PPM, ppb, quanta, type Ppb, type PriceTicks, type Quanta } from '../../num/units.ts';
import { creditMargin } from '../accounts/isolated-ledger.ts';
import { credit } from '../accounts/ledger.ts';
import type { SettleFunding } from '../commands.ts';
import type { FundingConfig, MarginTier } from '../config.ts';
import { hashFundingSampled, hashFundingSettled } from '../chain-hash/hash-event.ts';
import type { Market, TestedTerms } from '../market/market.ts';
import type { Outcome } from '../refusals.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { hasDepth, premiumImpact, type Fraction } from '../pricing/impact-price.ts';
import { hasFreshIndex } from '../pricing/freshness.ts';
import { nextSampleUs } from '../pricing/sampling.ts';
import { settlementTicks } from '../pricing/settlement-price.ts';

const PPB = 1_000_000_000;
const BIG_PPB = 1_000_000_000n;
const BIG_PPM = BigInt(PPM);
/** Cap of the premium: 100 times the index. */
const MAX_PREMIUM = 100n * BIG_PPB;
/** Higher rates are input errors: 100 % of the notional per interval. */
const MAX_RATE = PPB;

/** Whether funding may be sampled and paid: the index is fresh and the market is not frozen. */
function canFund(state: ExchangeState, market: Market): boolean {
  return !market.frozen && hasFreshIndex(state, market);
}

/** Premium of the book over the index, in 1e-9 toward zero; null if undefined. */
export function premiumOf(state: ExchangeState, market: Market): Ppb | null {
  const index = market.indexTicks;
  if (index === null || !canFund(state, market)) return null;
  const bid = premiumImpact(state, market, 1);
  const ask = premiumImpact(state, market, -1);
  if (bid === null || ask === null) return null;
  const above = beyond(bid, index);
  const below = beyond(ask, index);
  // Impact bid ≤ best bid < best ask ≤ impact ask, so at most one of the two is non-zero.
  return ppb(Number(above > 0n ? above : below < 0n ? below : 0n));
}

/** Whether there may be a premium: resting lots become fillable without a change of the book. */
function canSample(state: ExchangeState, market: Market): boolean {
  return canFund(state, market) && hasDepth(state, market, 1) && hasDepth(state, market, -1);
}

/** (price − index) ÷ index in 1e-9, toward zero. */
function beyond(price: Fraction, index: PriceTicks): bigint {
  const whole = BigInt(index) * price.of;
  const premium = ((price.ticks - whole) * BIG_PPB) / whole;
  return premium > MAX_PREMIUM ? MAX_PREMIUM : premium;
}

/** Takes a due sample. */
export function samplePremium(state: State, market: Market): void {
  const isPossible = canSample(state, market);
  market.sampleDueUs = isPossible ? nextSampleUs(state, market, state.nowUs) : Infinity;
  const premium = isPossible ? premiumOf(state, market) : null;
  if (premium === null) return;
  market.premiumSum += BigInt(premium);
  market.premiumCount += 1;
  if (market.fundingDueUs === Infinity) {
    // A sample on the boundary belongs to the ending interval.
    const { intervalUs } = market.spec.funding;
    const past = state.nowUs % intervalUs;
    market.fundingDueUs = past === 0 ? state.nowUs : state.nowUs - past + intervalUs;
  }
  const { context } = state;
  context.emit(hashFundingSampled, {
    kind: 'fundingSampled',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    market: market.id,
    premiumPpb: premium,
    samples: market.premiumCount,
  });
}

/** Rate of an interval from its samples. */
export function fundingRate(
  config: FundingConfig,
  firstTier: MarginTier,
  premiumSum: bigint,
  samples: number,
): Ppb {
  if (samples * 2 * config.sampleIntervalUs < config.intervalUs) return ppb(0);
  const premium = Number(premiumSum / BigInt(samples));
  const interest = clamp(config.interestPpb - premium, config.interestClampPpb);
  const rate = Math.trunc((premium + interest) / config.divisor);
  const { initialMarginPpm: initial, maintenanceMarginPpm: maintenance } = firstTier;
  // At the default share of ¾, one settlement takes at most the maintenance of a position.
  const capacity = Math.min(initial - maintenance, Math.trunc((maintenance * 4) / 3));
  // ppm × 1000 is ppb; the share of the capacity is in ppm, too.
  const cap = Math.min(config.capPpm * 1000, Math.trunc((capacity * config.marginCapPpm) / 1000));
  return ppb(clamp(rate, cap));
}

/**
 * The rate capped at the amount that a position can pay when closed at the settlement price. A safe
 * one had its maintenance requirement at its last test, which is at least `maintenancePpm`, the
 * lowest rate of the tiers. That contains the distance from the mark of the test to the settlement
 * price. One that waits for the next slice of its liquidation had at least two thirds of it. So a
 * settlement takes neither below zero.
 */
export function payableRate(
  market: Market,
  rate: Ppb,
  { markTicks: mark, maintenancePpm }: TestedTerms,
  isWaiting: boolean,
): Ppb {
  const { indexTicks: index } = market;
  if (index === null || mark === null) return rate;
  const gap = Math.abs(settlementTicks(market) - mark);
  const held = BigInt(maintenancePpm) * BigInt(mark) * (isWaiting ? 2n : 3n);
  const left = held - 3n * BigInt(gap) * BIG_PPM;
  if (left <= 0n) return ppb(0);
  return ppb(clamp(rate, Number(minBig((left * 1000n) / (3n * BigInt(index)), BIG_PPB))));
}

/** Whether a holder waits for a slice of its liquidation, which comes after funding. */
export function hasWaitingHolder(state: ExchangeState, market: Market): boolean {
  if (state.liquidationPauses.size === 0) return false;
  for (const id of market.holders) {
    const { opened } = state.subaccount(id);
    if (opened.some(({ liquidationResumesUs }) => liquidationResumesUs >= state.nowUs)) return true;
  }
  return false;
}

function clamp(value: number, limit: number): number {
  // Avoids −0.
  return Math.min(limit, Math.max(-limit, value)) + 0;
}

/** Ends the interval and settles its rate. Without samples and rate the timer stops (D-34). */
export function runFundingTimer(state: State, market: Market): void {
  const { spec } = market;
  const { intervalUs } = spec.funding;
  const [tier] = spec.tiers;
  if (market.premiumCount === 0 && market.fundingRatePpb === 0) {
    market.fundingDueUs = Infinity;
    return;
  }
  const rate =
    canFund(state, market) && tier !== undefined
      ? payableRate(
          market,
          fundingRate(spec.funding, tier, market.premiumSum, market.premiumCount),
          market.tested,
          hasWaitingHolder(state, market),
        )
      : ppb(0);
  market.fundingDueUs = state.nowUs - (state.nowUs % intervalUs) + intervalUs;
  settle(state, market, rate);
  market.premiumSum = 0n;
  market.premiumCount = 0;
}

/** A recorded rate, for markets with `fundingSource: external`. */
export function settleFunding(state: State, command: SettleFunding): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  if (market.status === 'delisted') return { code: 'market_delisted' };
  if (market.spec.funding.source !== 'external') return { code: 'funding_source_not_external' };
  if (Math.abs(command.ratePpb) > MAX_RATE) return { code: 'funding_rate_out_of_range' };
  if (!canFund(state, market)) return { code: 'index_not_fresh' };
  settle(state, market, command.ratePpb);
  return 'ok';
}

function settle(state: State, market: Market, rate: Ppb): void {
  const index = market.indexTicks;
  if (rate !== market.fundingRatePpb) market.candles.setFundingRate(state.nowUs, rate);
  market.fundingRatePpb = rate;
  const { context } = state;
  const outer = context.cause;
  context.cause = 'funding';
  let left = 0n;
  let positions = 0;
  if (rate !== 0 && index !== null) {
    for (const id of market.holders) {
      const subaccount = state.subaccount(id);
      const exposure = subaccount.exposure(market.id);
      const paid = fundingPayment(exposure.positionLots, index, market.spec.quantaPerTickLot, rate);
      positions += 1;
      left += paid;
      exposure.fundingQuanta = quanta(exposure.fundingQuanta - paid);
      if (paid > 0n) state.markForRiskCheck(subaccount);
      if (exposure.isolated) creditMargin(state, exposure, -paid, 'funding');
      else credit(state, subaccount, quanta(-paid), 'funding');
    }
    credit(state, state.insurance, quanta(left), 'rounding');
    context.due.riskCheck = true;
  }
  context.emit(hashFundingSettled, {
    kind: 'fundingSettled',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    market: market.id,
    ratePpb: rate,
    indexTicks: index,
    positions,
    roundingQuanta: quanta(left),
  });
  context.cause = outer;
}

/** Payment of `size` signed lots, rounded up; negative is a receipt, rounded down. */
export function fundingPayment(size: number, index: PriceTicks, unit: number, rate: Ppb): Quanta {
  const product = size * index * unit * rate;
  if (product <= Number.MAX_SAFE_INTEGER && product >= -Number.MAX_SAFE_INTEGER) {
    // Exact: so are remainders, and quotients of multiples. Both round toward +∞.
    const remainder = product % PPB;
    const whole = (product - remainder) / PPB;
    return quanta(BigInt(remainder > 0 ? whole + 1 : whole));
  }
  const exact = notional(lots(size), index, unit) * BigInt(rate);
  const quotient = exact / BIG_PPB;
  return quanta(exact > 0n && quotient * BIG_PPB !== exact ? quotient + 1n : quotient);
}
