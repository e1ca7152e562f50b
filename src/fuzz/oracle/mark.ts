/**
 * The mark price and its legs (R-5.3, R-5.3a, D-12). The basis is kept as stretches of time, and the EMA is stepped at whole seconds from
 * their time-weighted mean.
 */
import type { SetIndex, SetMark } from '../../engine/commands.ts';
import { bestPrice } from './book.ts';
import { max, median, min, roundedDown, shareDown } from './numbers.ts';
import { say, type Answer, type Market, type World } from './world.ts';

const SECOND = 1_000_000n;
const WINDOW_SECONDS = 150n;
const MOST_TICKS = 2 ** 31 - 1;

/** No price may be judged now: the mark is made of an index that is not there, or too old. Other marks need none, and the own mid is never stale. */
export function isFrozen(world: World, market: Market): boolean {
  const { markSource, indexSource } = market.spec;
  if (indexSource === 'mid' || (markSource !== 'median' && markSource !== 'index')) return false;
  return isIndexStale(world, market);
}

/** D-35: what funding is paid on must be fresh, whatever the mark is made of. */
export function isIndexStale(world: World, market: Market): boolean {
  if (market.index === null) return true;
  const age = world.now - market.indexAt;
  return market.spec.indexSource !== 'mid' && age > BigInt(world.config.indexStaleUs);
}

export function setIndex(world: World, c: SetIndex): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (c.priceTicks <= 0) return 'price_not_positive';
  if (c.priceTicks > MOST_TICKS) return 'price_too_high';
  if (market.spec.indexSource === 'mid') return 'index_source_not_oracle';
  stretch(world, market);
  market.index = BigInt(c.priceTicks);
  market.indexAt = world.now;
  market.basis = basisOf(market);
  world.marked.add(market.id);
  if (world.config.triggerSource === 'index') market.look = true;
  say(world, { kind: 'oracleSet', market: market.id, indexTicks: market.index });
  recompute(world, market, null);
  return 'ok';
}

export function setMark(world: World, c: SetMark): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (c.priceTicks <= 0) return 'price_not_positive';
  if (c.priceTicks > MOST_TICKS) return 'price_too_high';
  if (market.spec.markSource !== 'external') return 'mark_source_not_external';
  recompute(world, market, BigInt(c.priceTicks));
  return 'ok';
}

/** A recomputation that fell due at a whole second. */
export function recomputeDue(world: World, market: Market): void {
  market.markDue = null;
  stretch(world, market);
  recompute(world, market, null);
}

/** Whether a bar's prices are the mark while it is played. */
export const marksFollowBars = ({ spec }: Market): boolean =>
  spec.markSource !== 'external' &&
  (spec.indexSource === 'mid' || spec.markSource === 'last' || spec.markSource === 'mid');

/** A bar stops at a price: it is the last, and index and mark where these follow the book. */
export function followBar(world: World, market: Market, price: bigint): void {
  market.last = price;
  if (world.config.triggerSource === 'last') market.look = true;
  if (market.spec.indexSource === 'mid') {
    market.index = price;
    market.indexAt = world.now;
    if (world.config.triggerSource === 'index') market.look = true;
  }
  noteBarQuotes(world, market);
  if (!marksFollowBars(market)) return;
  market.mark = price;
  noteMark(world, market);
}

/** The quotes that a bar leaves are in force, and its mark stands until they change. */
export function noteBarQuotes(world: World, market: Market): void {
  see(world, market);
  market.markDue = null;
}

/** The bar is over: its mark is told when it is another one than before. */
export function tellBarMark(
  world: World,
  market: Market,
  before: { readonly mark: bigint | null; readonly index: bigint | null },
): void {
  if (market.mark === null) return;
  if (market.mark === before.mark && market.index === before.index) return;
  sayMark(world, market, market.mark);
}

/** Best bid, best ask and last changed: the basis does, and a recomputation falls due (R-5.3a). */
export function noticeQuotes(world: World): void {
  for (const market of world.markets) {
    const { bid, ask, last } = quotesOf(world, market);
    const { seen } = market;
    if (seen.bid === bid && seen.ask === ask && seen.last === last) continue;
    see(world, market);
    market.markDue ??= world.now - (world.now % SECOND) + SECOND;
  }
}

const quotesOf = (world: World, market: Market): Market['seen'] => ({
  bid: bestPrice(world, market, 1n) ?? 0n,
  ask: bestPrice(world, market, -1n) ?? 0n,
  last: market.last ?? 0n,
});

/** Quotes and last price are in force from now on. */
function see(world: World, market: Market): void {
  stretch(world, market);
  market.seen = quotesOf(world, market);
  market.basis = basisOf(market);
}

/** (mid − index) in half ticks, the mid clamped around the index. */
function basisOf(market: Market): bigint | null {
  const { bid, ask } = market.seen;
  if (bid === 0n || ask === 0n || market.index === null) return null;
  const room = roundedDown(2n * market.index, market.rates.deviation);
  return max(-room, min(room, bid + ask - 2n * market.index));
}

/** Notes the basis until now, and steps the EMA at the last whole second. */
function stretch(world: World, market: Market): void {
  if (world.now > market.basisSince) {
    market.stretches.push({ from: market.basisSince, to: world.now, basis: market.basis });
    market.basisSince = world.now;
  }
  const boundary = world.now - (world.now % SECOND);
  if (boundary <= market.emaAt) return;
  let area = 0n;
  let time = 0n;
  const beyond: Market['stretches'] = [];
  for (const { from, to, basis } of market.stretches) {
    const until = min(to, boundary);
    if (basis !== null && until > from) {
      area += basis * (until - from);
      time += until - from;
    }
    if (to > boundary) beyond.push({ from: max(from, boundary), to, basis });
  }
  if (time > 0n) {
    const weight = min(WINDOW_SECONDS, (boundary - market.emaAt) / SECOND);
    // Half ticks to 1e-6 ticks; bigint division rounds toward zero, as the rule asks.
    const sample = (area * 500_000n) / time;
    market.ema += ((sample - market.ema) * weight) / WINDOW_SECONDS;
  }
  market.stretches = beyond;
  market.emaAt = boundary;
}

/** The mark anew, from its legs or as given; what waits for it looks at it once. */
function recompute(world: World, market: Market, given: bigint | null): void {
  const before = { mark: market.mark, index: market.index };
  if (given === null) takeMid(world, market);
  const mark = markOf(world, market, given);
  if (mark !== null) {
    market.mark = mark;
    noteMark(world, market);
  }
  if (market.mark === null) return;
  if (market.mark === before.mark && market.index === before.index) return;
  sayMark(world, market, market.mark);
}

function sayMark(world: World, market: Market, mark: bigint): void {
  world.marked.add(market.id);
  const indexTicks = market.index;
  say(world, { kind: 'markChanged', market: market.id, markTicks: mark, indexTicks });
}

/** An index that is the book's own mid. */
function takeMid(world: World, market: Market): void {
  const mid = midOf(market);
  if (market.spec.indexSource !== 'mid' || mid === null) return;
  if (market.index !== mid && world.config.triggerSource === 'index') market.look = true;
  market.index = mid;
  market.indexAt = world.now;
  market.basis = basisOf(market);
}

/** Triggers look at it next (§4), and everybody's margin is looked at. */
function noteMark(world: World, market: Market): void {
  market.recomputed = true;
  if (world.config.triggerSource === 'mark') market.look = true;
  world.danger = true;
}

const midOf = ({ seen }: Market): bigint | null =>
  seen.bid === 0n || seen.ask === 0n ? null : shareDown(seen.bid + seen.ask, 2n);

/** What the mark is now; null when it stays as it is. */
function markOf(world: World, market: Market, given: bigint | null): bigint | null {
  const { seen } = market;
  switch (market.spec.markSource) {
    case 'external':
      return given;
    case 'last':
      return seen.last === 0n ? null : nearIndex(market, seen.last);
    case 'mid': {
      const mid = midOf(market);
      return mid === null ? null : nearIndex(market, mid);
    }
    case 'index':
      return isFrozen(world, market) ? null : market.index;
    case 'median': {
      if (isFrozen(world, market) || market.index === null) return null;
      const { bid, ask, last } = seen;
      const third = median([bid, ask, last].filter((price) => price > 0n));
      const legs = [market.index, max(1n, market.index + shareDown(market.ema, 1_000_000n))];
      const raw = median(third === null ? legs : [...legs, third]) ?? market.index;
      return nearIndex(market, raw);
    }
  }
}

/** The mark stays within a part of the index, where there is one. */
function nearIndex({ index, rates }: Market, mark: bigint): bigint {
  if (index === null) return mark;
  const room = roundedDown(index, rates.deviation);
  return max(index - room, min(index + room, mark));
}
