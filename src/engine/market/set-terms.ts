/**
 * Changing the terms of a listed market.
 *
 * Terms take effect at once, except the mark deviation, the funding caps and, if any maintenance
 * requirement rises, the margin tiers. These wait in `market.nextSpec` for `config.termsNoticeUs`.
 * Until then orders need the larger initial requirement and positions the old maintenance, so no
 * account becomes liquidatable without notice.
 */
import { timeUs } from '../../num/units.ts';
import type { SetMarketTerms } from '../commands.ts';
import type { MarginTier, MarketSpec } from '../config.ts';
import { hashMarketTermsChanged } from '../chain-hash/hash-event.ts';
import { logOperator } from '../operator-log.ts';
import type { Outcome } from '../refusals.ts';
import { noteTerms, runMarkTimer } from '../pricing/mark-price.ts';
import { nextSampleUs } from '../pricing/sampling.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { isSpecSound } from './list.ts';
import type { Market } from './market.ts';
import { openInterestCap } from './open-interest.ts';
import { markHoldersForRiskCheck } from '../margin/mark-holders-for-risk-check.ts';

export function setMarketTerms(state: State, command: SetMarketTerms): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  if (market.status === 'delisted') return { code: 'market_delisted' };
  const { spec } = command;
  if (!isSameMarket(market.spec, spec)) return { code: 'market_terms_immutable' };
  if (!isSpecSound(spec)) return { code: 'market_spec_invalid' };
  const now = termsBeforeNotice(market.spec, spec);

  const notice = state.config.termsNoticeUs;
  const waits = notice > 0 && !isEqual(now, spec);
  market.nextSpec = waits ? spec : null;
  market.termsDueUs = waits ? state.nowUs + notice : Infinity;
  enforce(state, market, waits ? now : spec);
  // An order at lower margins must not meet a mark that they do not allow.
  if (market.markDueUs <= state.nowUs) runMarkTimer(state, market);
  logOperator(state, 'setMarketTerms', { market: market.id });
  return 'ok';
}

/** Puts announced terms in force at the end of their notice; the marks of the instant follow. */
export function runTermsTimer(state: State, market: Market): void {
  const spec = market.nextSpec;
  market.nextSpec = null;
  market.termsDueUs = Infinity;
  if (spec !== null) enforce(state, market, spec);
}

function enforce(state: State, market: Market, spec: MarketSpec): void {
  const maintenanceChanges = !isEqual(market.spec.tiers, spec.tiers);
  takeTerms(state, market, spec);
  // Impact prices and the clamp of the mark may change.
  if (market.markTicks !== null) noteTerms(state, market);
  if (maintenanceChanges) markHoldersForRiskCheck(state, market);
  const { context } = state;
  context.emit(hashMarketTermsChanged, {
    kind: 'marketTermsChanged',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    market: market.id,
    spec,
    nextSpec: market.nextSpec,
    effectiveUs: market.nextSpec === null ? null : timeUs(market.termsDueUs),
  });
}

/** Puts terms in force and derives values; converts a limit in money at the current price. */
function takeTerms(state: ExchangeState, market: Market, spec: MarketSpec): void {
  const price = market.indexTicks ?? market.markTicks;
  market.spec = spec;
  market.openInterestCapLots =
    price === null ? spec.maxOpenInterestLots : openInterestCap(spec, price);
  market.deriveRates();
  // A sample due now still runs.
  if (market.sampleDueUs !== Infinity && market.sampleDueUs > state.nowUs) {
    market.sampleDueUs = nextSampleUs(state, market, state.nowUs);
  }
  if (market.fundingDueUs !== Infinity && market.fundingDueUs > state.nowUs) {
    const { intervalUs } = spec.funding;
    market.fundingDueUs = state.nowUs - (state.nowUs % intervalUs) + intervalUs;
  }
}

/** Whether identity, price sources and recorded-volume models are equal. */
function isSameMarket(a: MarketSpec, b: MarketSpec): boolean {
  return (
    a.symbol === b.symbol &&
    a.feedId === b.feedId &&
    a.tickSize === b.tickSize &&
    a.lotSize === b.lotSize &&
    a.quantaPerTickLot === b.quantaPerTickLot &&
    a.maxPriceTicks === b.maxPriceTicks &&
    a.markSource === b.markSource &&
    a.indexSource === b.indexSource &&
    a.initialMarkTicks === b.initialMarkTicks &&
    a.recordedLiquidity === b.recordedLiquidity &&
    a.funding.source === b.funding.source &&
    a.queueModel === b.queueModel &&
    a.impactModel === b.impactModel &&
    a.impactHalfLifeUs === b.impactHalfLifeUs
  );
}

/** The part of `next` that is in force during its notice. */
function termsBeforeNotice(current: MarketSpec, next: MarketSpec): MarketSpec {
  const { capPpm, marginCapPpm } = current.funding;
  const terms = {
    ...next,
    tiers: maintenanceRises(current.tiers, next.tiers) ? current.tiers : next.tiers,
    maxMarkDeviationPpm: current.maxMarkDeviationPpm,
    funding: { ...next.funding, capPpm, marginCapPpm },
  };
  // A deviation that the new tiers do not allow cannot wait.
  return isSpecSound(terms) ? terms : { ...terms, maxMarkDeviationPpm: next.maxMarkDeviationPpm };
}

/** Whether maintenance rises for some notional. Piecewise linear: floors and last rates suffice. */
export function maintenanceRises(
  before: readonly MarginTier[],
  after: readonly MarginTier[],
): boolean {
  for (const { floorQuanta } of [...before, ...after]) {
    if (integral(after, floorQuanta) > integral(before, floorQuanta)) return true;
  }
  return (after.at(-1)?.maintenanceMarginPpm ?? 0) > (before.at(-1)?.maintenanceMarginPpm ?? 0);
}

/** Maintenance of a notional in Quanta × 1e-6, unrounded. */
function integral(tiers: readonly MarginTier[], notionalQuanta: bigint): bigint {
  let sum = 0n;
  tiers.forEach((tier, i) => {
    if (notionalQuanta <= tier.floorQuanta) return;
    const next = tiers[i + 1]?.floorQuanta ?? notionalQuanta;
    const top = next < notionalQuanta ? next : notionalQuanta;
    sum += (top - tier.floorQuanta) * BigInt(tier.maintenanceMarginPpm);
  });
  return sum;
}

/** Deep equality of plain values. */
function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const left = Object.entries(a);
  const right = new Map(Object.entries(b));
  return left.length === right.size && left.every(([key, value]) => isEqual(value, right.get(key)));
}
