/** The mark price and its legs (R-5.3, R-5.3a, D-12), and frozen markets (R-5.3b). */
import type { SetIndex, SetMark } from '../engine/commands.ts';
import { bestPrice } from './book.ts';
import { endVaultOrder } from './endings.ts';
import { housePrices } from './house.ts';
import { impactQuotes } from './impact.ts';
import { max, median, min, roundedDown, shareDown } from './numbers.ts';
import { emaInstant, nextEmaInstant, passedSecond } from './sampling.ts';
import { emit, type Answer, type Market, type World } from './world.ts';

const SECOND = 1_000_000n;
const WINDOW_SECONDS = 150n;
const MOST_TICKS = 2 ** 31 - 1;

// Frozen markets -----------------------------------------------------------------------------

/** Whether prices of the market must not be acted on now. */
export const isFrozen = (_world: World, market: Market): boolean => market.frozen;

/** Time of the last price of the mark's source; null if it needs none or has had none. */
function sourceAt(market: Market): bigint | null {
  const { markSource, indexSource } = market.spec;
  if (markSource === 'external') return market.markAt;
  const needsIndex = markSource === 'median' || markSource === 'index';
  return needsIndex && indexSource !== 'mid' && market.index !== null ? market.indexAt : null;
}

/** The first instant at which that source is stale. */
function staleFrom(world: World, market: Market): bigint | null {
  const at = sourceAt(market);
  return at === null ? null : at + BigInt(world.config.indexStaleUs) + 1n;
}

export const nextFreeze = (world: World, market: Market): bigint | null =>
  market.frozen || market.status === 'delisted' ? null : staleFrom(world, market);

export function freezeDue(world: World, market: Market): void {
  const due = nextFreeze(world, market);
  if (due !== null && due <= world.now) freeze(world, market);
}

export function freeze(world: World, market: Market): void {
  market.frozen = true;
  market.frozenSince = world.now;
  market.emaDue = null;
  emitFrozen(world, market);
  endVaultOrder(world, market);
}

/** Thaws a market with a fresh source that is not halted; returns whether it did. */
export function thaw(world: World, market: Market): boolean {
  if (!market.frozen || market.status === 'halted') return false;
  const stale = staleFrom(world, market);
  if (stale !== null && stale <= world.now) return false;
  endFreeze(world, market);
  // The frozen time enters no average.
  market.emaSecond = world.now / SECOND;
  scheduleEma(world, market);
  return true;
}

export function endFreeze(world: World, market: Market): void {
  market.frozen = false;
  emitFrozen(world, market);
}

function emitFrozen(world: World, { id, frozen, frozenSince }: Market): void {
  world.marked.add(id);
  world.danger = true;
  emit(world, { kind: 'marketFrozen', market: id, frozen, sinceUs: frozenSince });
}

// The EMA of the basis -----------------------------------------------------------------------

/** The first instant after now at which the basis is sampled, unless one is scheduled. */
function scheduleEma(world: World, market: Market): void {
  if (market.spec.markSource !== 'median' || market.frozen || market.status === 'delisted') return;
  market.emaDue ??= nextEmaInstant(world, market.id);
}

/** Counts all seconds up to one, each with the newest sample. */
function advanceTo(market: Market, second: bigint): void {
  const passed = second - market.emaSecond;
  if (passed <= 0n) return;
  const distance = market.emaSample * 500_000n - market.ema;
  // Bigint division rounds toward zero, as the rule requires.
  market.ema += (distance * min(WINDOW_SECONDS, passed)) / WINDOW_SECONDS;
  market.emaSecond = second;
}

export function advanceEma(world: World, market: Market): void {
  if (market.spec.markSource !== 'median' || market.frozen) return;
  advanceTo(market, passedSecond(world, market.id));
}

/** Samples the basis at the pseudorandom instant of this second. */
export function sampleBasis(world: World, market: Market): void {
  if (market.emaDue === null || market.emaDue > world.now) return;
  market.emaDue = null;
  const second = world.now / SECOND;
  if (emaInstant(world, market.id, second) !== world.now)
    throw new Error('not the sampling instant');
  const before = { ema: market.ema, sample: market.emaSample };
  advanceTo(market, second - 1n);
  market.emaSample = basisOf(world, market);
  market.ema += (market.emaSample * 500_000n - market.ema) / WINDOW_SECONDS;
  market.emaSecond = second;
  if (market.ema !== before.ema || market.emaSample !== before.sample) dirty(world, market);
}

/**
 * (impact mid − index) in half ticks, the mid clamped around the index; 0 if a side is too thin.
 */
function basisOf(world: World, market: Market): bigint {
  const quotes = impactQuotes(world, market);
  if (quotes === null || market.index === null) return 0n;
  const capacity = roundedDown(2n * market.index, market.rates.deviation);
  return max(-capacity, min(capacity, quotes.bid + quotes.ask - 2n * market.index));
}

// Prices -------------------------------------------------------------------------------------

/** D-35: the index used for funding must be fresh, whatever the mark is made of. */
export function isIndexStale(world: World, market: Market): boolean {
  if (market.index === null) return true;
  const age = world.now - market.indexAt;
  return market.spec.indexSource !== 'mid' && age > BigInt(world.config.indexStaleUs);
}

export function setIndex(world: World, c: SetIndex): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  if (c.priceTicks <= 0) return 'price_not_positive';
  if (c.priceTicks > MOST_TICKS) return 'price_too_high';
  if (market.spec.indexSource === 'mid') return 'index_source_not_oracle';
  advanceEma(world, market);
  market.index = BigInt(c.priceTicks);
  market.indexAt = world.now;
  world.marked.add(market.id);
  if (world.config.triggerSource === 'index') market.sourceChanged = true;
  emit(world, { kind: 'oracleSet', market: market.id, indexTicks: market.index });
  thaw(world, market);
  scheduleEma(world, market);
  recompute(world, market, null);
  return 'ok';
}

export function setMark(world: World, c: SetMark): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  if (c.priceTicks <= 0) return 'price_not_positive';
  if (c.priceTicks > MOST_TICKS) return 'price_too_high';
  if (market.spec.markSource !== 'external') return 'mark_source_not_external';
  // A halted market does not move.
  if (market.status === 'halted') return 'ok';
  market.markAt = world.now;
  thaw(world, market);
  recompute(world, market, BigInt(c.priceTicks));
  return 'ok';
}

/** Sets the initial mark of a market. */
export function beginMark(world: World, market: Market, mark: bigint): void {
  moveMark(world, market, mark);
  fixCap(market);
  emitMark(world, market, mark);
}

/** A recomputation due at a whole second. */
export function recomputeDue(world: World, market: Market): void {
  market.markDue = null;
  advanceEma(world, market);
  recompute(world, market, null);
}

/** A recomputation after the operator reopened a market. */
export function recomputeReopened(world: World, market: Market): void {
  advanceEma(world, market);
  recompute(world, market, null);
}

/** Whether a bar's prices are the mark while it is played. */
export const marksFollowBars = ({ spec }: Market): boolean =>
  spec.markSource !== 'external' &&
  (spec.indexSource === 'mid' || spec.markSource === 'last' || spec.markSource === 'mid');

/**
 * A stop of a bar at a price: it is the last price, and index and mark if these follow the book.
 */
export function followBar(world: World, market: Market, price: bigint): void {
  market.last = price;
  if (world.config.triggerSource === 'last') market.sourceChanged = true;
  if (market.spec.indexSource === 'mid') {
    if (market.index !== price) advanceEma(world, market);
    market.index = price;
    market.indexAt = world.now;
    if (world.config.triggerSource === 'index') market.sourceChanged = true;
  }
  if (marksFollowBars(market) && !market.frozen) moveMark(world, market, price);
  fixCap(market);
}

/** The quotes of a bar take effect; its mark stands until they change. */
export function noteBarQuotes(world: World, market: Market): void {
  market.bookChanged = false;
  market.lastSeen = market.last;
  market.markDue = null;
  scheduleEma(world, market);
}

/** End of bar: emits `markChanged` if the mark changed. */
export function emitBarMark(
  world: World,
  market: Market,
  before: { readonly mark: bigint | null; readonly index: bigint | null },
): void {
  if (market.mark === null) return;
  if (market.mark === before.mark && market.index === before.index) return;
  emitMark(world, market, market.mark);
}

/**
 * The book or the last price changed: schedules a recomputation (R-5.3a) and a sample of the basis.
 */
export function noticeQuotes(world: World): void {
  for (const market of world.markets) {
    const { bookChanged, last, lastSeen } = market;
    market.bookChanged = false;
    market.lastSeen = last;
    if (market.status === 'delisted') continue;
    if (bookChanged) scheduleEma(world, market);
    if (bookChanged || last !== lastSeen) dirty(world, market);
  }
}

/** A new step begins; no mark has been recomputed in it. */
export function beginStep(world: World): void {
  for (const market of world.markets) market.markBefore = null;
}

/** Impact prices and the bounds of the mark may change: it is due at once. */
export function noteTerms(world: World, market: Market): void {
  if (market.mark === null) return;
  market.markDue = world.now;
  scheduleEma(world, market);
}

/** Schedules the mark for the next whole second. */
function dirty(world: World, market: Market): void {
  market.markDue ??= world.now - (world.now % SECOND) + SECOND;
}

/** Recomputes the mark, or sets the recorded one; triggers check it once. */
function recompute(world: World, market: Market, external: bigint | null): void {
  const before = { mark: market.mark, index: market.index };
  if (external === null) takeMid(world, market);
  const mark = market.frozen ? null : markOf(world, market, external);
  if (mark !== null) moveMark(world, market, mark);
  fixCap(market);
  if (market.mark === null) return;
  if (market.mark === before.mark && market.index === before.index) return;
  emitMark(world, market, market.mark);
}

function emitMark(world: World, market: Market, mark: bigint): void {
  world.marked.add(market.id);
  const indexTicks = market.index;
  emit(world, { kind: 'markChanged', market: market.id, markTicks: mark, indexTicks });
}

/** Sets an index that is the book's own mid. */
function takeMid(world: World, market: Market): void {
  const mid = midOf(world, market);
  if (market.spec.indexSource !== 'mid' || mid === null) return;
  if (market.index !== mid) {
    scheduleEma(world, market);
    if (world.config.triggerSource === 'index') market.sourceChanged = true;
  }
  market.index = mid;
  market.indexAt = world.now;
}

/** Sets a new mark; losses of this step are relative to the mark before its first change (§6). */
export function moveMark(world: World, market: Market, mark: bigint): void {
  market.markBefore ??= market.mark ?? mark;
  market.mark = mark;
  noteMark(world, market);
}

/** Converts a money limit of open interest to lots at the first price. */
export function fixCap(market: Market, again = false): void {
  const { maxOpenInterestLots, maxOpenInterestNotional } = market.spec;
  const price = market.index ?? market.mark;
  if (price === null || (market.capFixed && !again)) return;
  market.capFixed = true;
  market.openInterestCap = BigInt(maxOpenInterestLots);
  if (maxOpenInterestNotional === null) return;
  const byMoney = max(1n, maxOpenInterestNotional / (price * market.unit));
  market.openInterestCap = min(market.openInterestCap, byMoney);
}

/** Schedules triggers (§4) and margin checks. */
function noteMark(world: World, market: Market): void {
  market.recomputed = true;
  if (world.config.triggerSource === 'mark') market.sourceChanged = true;
  world.danger = true;
}

/**
 * In whole ticks, rounded down; null while a side is empty, or of a recorded book has no history.
 */
function midOf(world: World, market: Market): bigint | null {
  if (market.spec.recordedLiquidity) {
    const isTaken = (side: bigint): boolean => housePrices(market, side).length === 0;
    if (isTaken(1n) || isTaken(-1n)) return null;
  }
  const bid = bestPrice(world, market, 1n);
  const ask = bestPrice(world, market, -1n);
  if (bid === null || ask === null) return null;
  return max(1n, shareDown(market.statedMid ?? bid + ask, 2n));
}

/** The new mark; null if it stays. */
function markOf(world: World, market: Market, external: bigint | null): bigint | null {
  switch (market.spec.markSource) {
    case 'external':
      return external;
    case 'last':
      return nearIndex(market, market.last);
    case 'mid':
      return nearIndex(market, midOf(world, market));
    case 'index':
      return market.index;
    case 'median':
      return market.index === null ? null : medianMark(world, market, market.index);
  }
}

/** Index, index + average basis, and the last price clipped to the impact prices. */
function medianMark(world: World, market: Market, index: bigint): bigint {
  const legs = [index, max(1n, index + shareDown(market.ema, 1_000_000n))];
  const quotes = impactQuotes(world, market);
  if (quotes !== null && market.last !== null) {
    legs.push(max(quotes.bid, min(quotes.ask, market.last)));
  }
  return max(1n, nearIndex(market, median(legs) ?? index) ?? index);
}

/** Clamps a new price, or else the mark, to a part of the index, if there is one. */
function nearIndex({ index, rates, mark: present }: Market, price: bigint | null): bigint | null {
  const mark = price ?? present;
  if (index === null || mark === null) return mark;
  const capacity = roundedDown(index, rates.deviation);
  return max(index - capacity, min(index + capacity, mark));
}
