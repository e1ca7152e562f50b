/** Single orders of a recording: each has its own queue position. */
import type { TapeL3 } from '../engine/commands.ts';
import { queueAt } from './book.ts';
import { NO_FEES } from './fees.ts';
import { printTrade } from './fills.ts';
import {
  addHistoricalOrder,
  findSegment,
  keepTaken,
  levelOf,
  noteRestated,
  noteTakenAt,
  takeOf,
} from './house.ts';
import { max, min } from './numbers.ts';
import { cross, isPrice, emitApplied, stateMid, takeAs, takeUser, takeUsers } from './tape.ts';
import type { Answer, Market, Segment, World } from './world.ts';

interface Named {
  readonly ref: number;
  readonly side: bigint;
  readonly price: bigint;
  readonly lots: bigint;
}

export function tapeL3(world: World, c: TapeL3): Answer {
  const market = world.markets[c.market];
  if (market === undefined) return 'market_not_found';
  if (market.status === 'delisted') return 'market_delisted';
  if (market.spec.impactModel === 'squareRoot') return 'impact_needs_levels';
  const isCount = (value: number): boolean => Number.isSafeInteger(value) && value > 0;
  if (!isCount(c.ref) || !isPrice(c.priceTicks) || !isCount(c.lots)) return 'tape_level_invalid';
  world.cause = 'tape';
  const order: Named = {
    ref: c.ref,
    side: c.side === 'bid' ? 1n : -1n,
    price: BigInt(c.priceTicks),
    lots: BigInt(c.lots),
  };
  if (!market.stale) {
    dispatch(world, market, c.action, order);
    stateMid(market, null);
  }
  emitApplied(world, market, 'l3', market.stale);
  return 'ok';
}

function dispatch(world: World, market: Market, action: TapeL3['action'], order: Named): void {
  const { ref, side, price, lots } = order;
  if (action === 'add') {
    // The number refers to another order from now on.
    const old = market.house.find((segment) => segment.ref === ref);
    if (old !== undefined) takeOf(market, old, old.lots);
    const { traded, open } = cross(world, market, side, price, lots);
    if (traded > 0n) noteTakenAt(world, market, side, price, traded);
    if (open && traded < lots) {
      addHistoricalOrder(world, market, { side, price, lots: lots - traded, ref });
    }
    return;
  }
  if (action === 'execute') {
    execute(world, market, order);
    return;
  }
  const named = market.house.some((segment) => segment.ref === ref);
  let rest = lots;
  while (rest > 0n) {
    const segment = findSegment(market, ref, side, price);
    if (segment === null) break;
    rest -= takeOf(market, segment, named && action === 'remove' ? segment.lots : rest);
    if (named) break;
  }
  endTaken(world, market, order, rest);
}

/** Lots that history removes and the book does not have: users took them before. */
function endTaken(world: World, market: Market, { side, price }: Named, lots: bigint): void {
  if (lots <= 0n) return;
  noteRestated(market, side, price, lots);
  keepTaken(world, market, side, price, max(0n, levelOf(market, side, price).taken - lots));
}

/** The order's counterparty meets users with priority first; their size leaves the order too. */
function execute(world: World, market: Market, order: Named): void {
  const { ref, side, price, lots } = order;
  let users = takeUsers(world, market, side, price + side, lots);
  const named = market.house.some((segment) => segment.ref === ref);
  let filled = 0n;
  let gone = 0n;
  while (filled + gone < lots) {
    const segment = findSegment(market, ref, side, price);
    if (segment === null) break;
    users += takeAhead(world, market, segment, lots - users - filled);
    const left = segment.lots;
    const now = min(lots - users - filled, left);
    const lost = max(0n, min(users - gone, left - now));
    takeOf(market, segment, lost);
    const queue = queueAt(world, market, segment.side, segment.price);
    const resting = queue.find((other) => other.segment === segment);
    if (resting !== undefined && now > 0n) {
      takeAs(world, market, resting, { fees: NO_FEES, size: now });
    }
    filled += now;
    gone += lost;
    // An added order is one segment; further history of it is only printed.
    if (named) break;
  }
  endTaken(world, market, order, lots - filled - gone);
  const unmatched = lots - users - filled;
  if (unmatched > 0n) printTrade(world, market, price, -side * unmatched);
}

/** Fills users ahead of the segment in its queue. */
function takeAhead(world: World, market: Market, segment: Segment, maxLots: bigint): bigint {
  let taken = 0n;
  while (taken < maxLots) {
    const [first] = queueAt(world, market, segment.side, segment.price).filter(
      ({ order, arrival }) => order !== null && arrival < segment.arrival,
    );
    if (first === undefined) break;
    const filled = takeUser(world, market, first, maxLots - taken);
    if (filled === 'held') break;
    taken += filled;
  }
  return taken;
}
