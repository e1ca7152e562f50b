/** Funding (§7, D-34, D-35): premium samples, the rate of an interval, and its settlement. */
import type { SettleFunding } from '../engine/commands.ts';
import { atSettlement } from './margin.ts';
import { hasDepth, premiumImpact } from './impact.ts';
import { isIndexStale } from './mark.ts';
import { abs, max, min, shareUp, sum } from './numbers.ts';
import { isPremiumInstant, nextPremiumInstant } from './sampling.ts';
import {
  because,
  book,
  bookMargin,
  INSURANCE,
  isIsolated,
  positionOf,
  emit,
  subOf,
  type Answer,
  type Market,
  type World,
} from './world.ts';

const BILLION = 1_000_000_000n;
/** Cap of the premium: 100 times the index. */
const MOST_PREMIUM = 100n * BILLION;

/** D-35: whether funding may be sampled. */
const canFund = (world: World, market: Market): boolean =>
  !market.frozen && market.status !== 'delisted' && !isIndexStale(world, market);

/** in 1e-9 toward zero; null if undefined. Recorded rates need none. */
export function premiumOf(world: World, market: Market): bigint | null {
  const { index } = market;
  if (index === null || !canFund(world, market)) return null;
  const bid = premiumImpact(world, market, 1n);
  const ask = premiumImpact(world, market, -1n);
  if (bid === null || ask === null) return null;
  const beyond = ({ top, bottom }: { top: bigint; bottom: bigint }): bigint =>
    ((top - index * bottom) * BILLION) / (index * bottom);
  return min(MOST_PREMIUM, max(0n, beyond(bid)) + min(0n, beyond(ask)));
}

/** The next multiple of an interval since the epoch, after now. */
const nextMultiple = (world: World, interval: number): bigint =>
  world.now - (world.now % BigInt(interval)) + BigInt(interval);

export function nextSample(world: World, market: Market, until: bigint): bigint | null {
  const { source, sampleIntervalUs } = market.spec.funding;
  if (source === 'external') return null;
  const at = nextPremiumInstant(world, market.id, BigInt(sampleIntervalUs));
  return at > until || !canFund(world, market) || !hasDepth(world, market) ? null : at;
}

export function takeSample(world: World, market: Market): void {
  const { source, sampleIntervalUs } = market.spec.funding;
  if (source === 'external') return;
  if (!isPremiumInstant(world, market.id, BigInt(sampleIntervalUs))) return;
  if (market.sampledAt === world.now) return;
  const premium = premiumOf(world, market);
  if (premium === null) return;
  market.sampledAt = world.now;
  market.samples.push(premium);
  emit(world, {
    kind: 'fundingSampled',
    market: market.id,
    premiumPpb: premium,
    samples: market.samples.length,
  });
}

/** Whether a settlement is due: there are samples, or a rate in force ends. */
const isSettling = (market: Market): boolean =>
  market.samples.length > 0 || market.fundingRate !== 0n;

export const nextFunding = (world: World, market: Market): bigint | null =>
  isSettling(market) && market.status !== 'delisted' && market.spec.funding.source === 'premium'
    ? nextMultiple(world, market.spec.funding.intervalUs)
    : null;

/** Marks and rates at which positions were safe, before those of this instant change them. */
export function noteTested(world: World): void {
  for (const market of world.markets) {
    const rates = market.spec.tiers.map(({ maintenanceMarginPpm }) => maintenanceMarginPpm);
    market.tested = { mark: market.mark, lowest: BigInt(Math.min(...rates)) };
  }
}

export function settleDue(world: World, market: Market): void {
  const { source, intervalUs } = market.spec.funding;
  if (market.status === 'delisted' || source !== 'premium') return;
  if (world.now % BigInt(intervalUs) !== 0n || !isSettling(market)) return;
  if (market.settledAt === world.now) return;
  market.settledAt = world.now;
  const rate = market.frozen || isIndexStale(world, market) ? 0n : rateOf(world, market);
  market.samples = [];
  settle(world, market, rate);
}

/** Rate of the interval. */
function rateOf(world: World, market: Market): bigint {
  const { funding, tiers } = market.spec;
  const count = BigInt(market.samples.length);
  const full = BigInt(funding.intervalUs);
  if (count === 0n || count * 2n * BigInt(funding.sampleIntervalUs) < full) return 0n;
  const premium = sum(market.samples) / count;
  const clamp = (n: bigint, limit: bigint): bigint => max(-limit, min(limit, n));
  const interest = clamp(BigInt(funding.interestPpb) - premium, BigInt(funding.interestClampPpb));
  const rate = (premium + interest) / BigInt(funding.divisor);
  const [tier] = tiers;
  const initial = BigInt(tier?.initialMarginPpm ?? 0);
  const maintenance = BigInt(tier?.maintenanceMarginPpm ?? 0);
  // At the default share of ¾, one settlement takes at most the maintenance of a position.
  const capacity = min(initial - maintenance, (maintenance * 4n) / 3n);
  const byCapacity = (capacity * BigInt(funding.marginCapPpm)) / 1000n;
  const bound = clamp(rate, min(BigInt(funding.capPpm) * 1000n, byCapacity));
  const { index } = market;
  const { mark, lowest } = market.tested;
  if (index === null || mark === null) return bound;
  // A position that was safe can pay it and the distance from that mark to the settlement price.
  // One that waits for the next slice of its liquidation may have two thirds of maintenance.
  const gap = abs(atSettlement(market, 1n) - mark);
  const waits = world.subs.some(
    (sub) =>
      positionOf(sub, market.id).lots !== 0n &&
      world.markets.some(({ id }) => positionOf(sub, id).resumesAt >= world.now),
  );
  const left = max(0n, (waits ? 2n : 3n) * lowest * mark - 3n * gap * 1_000_000n);
  return clamp(bound, (left * 1000n) / (3n * index));
}

/** A recorded rate (R-7.3, D-35). */
export function settleFunding(world: World, c: SettleFunding): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  if (market.spec.funding.source !== 'external') return 'funding_source_not_external';
  if (Math.abs(c.ratePpb) > 1_000_000_000) return 'funding_rate_out_of_range';
  if (market.frozen || isIndexStale(world, market)) return 'index_not_fresh';
  settle(world, market, BigInt(c.ratePpb));
  return 'ok';
}

function settle(world: World, market: Market, rate: bigint): void {
  because(world, 'funding', () => {
    payAndReceive(world, market, rate);
  });
}

/** payments round up, receipts down; insurance gets the difference. */
function payAndReceive(world: World, market: Market, rate: bigint): void {
  market.fundingRate = rate;
  market.rateChanges.push({ at: world.now, rate });
  let left = 0n;
  let positions = 0;
  for (const sub of rate === 0n ? [] : world.subs) {
    const position = positionOf(sub, market.id);
    if (position.lots === 0n) continue;
    positions += 1;
    const value = position.lots * (market.index ?? 0n) * market.unit;
    const paid = shareUp(value * rate, BILLION);
    left += paid;
    position.funding -= paid;
    world.touched.add(sub.id);
    if (isIsolated(sub, market.id)) bookMargin(world, sub, market.id, -paid, 'funding');
    else book(world, sub, -paid, 'funding');
  }
  book(world, subOf(world, INSURANCE), left, 'rounding');
  if (rate !== 0n) world.danger = true;
  emit(world, {
    kind: 'fundingSettled',
    market: market.id,
    ratePpb: rate,
    indexTicks: market.index,
    positions,
    roundingQuanta: left,
  });
}
