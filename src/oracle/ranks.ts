/** Closing order of the other side of a position, fixed for a round. */
import { atMark, atSettlement, upnlOf, valueOf } from './margin.ts';
import { abs, max, min, sign } from './numbers.ts';
import { partyEquityOf, unitOf } from './risk-units.ts';
import { positionOf, type Market, type Sub, type World } from './world.ts';

/** Ranks of a round, by market and side. */
export type Ranks = Map<string, Sub[]>;

interface Ranked {
  readonly sub: Sub;
  /** 0: in profit; 1: others; 2: without equity; 3: the house; 4: below zero after closing. */
  readonly class: number;
  readonly top: bigint;
  readonly bottom: bigint;
}

/** Current holders of this side; later ones come last, by id. */
export function rankedHolders(world: World, ranks: Ranks, market: Market, side: bigint): Sub[] {
  const key = `${market.id} ${side}`;
  const holders = world.subs.filter((sub) => sign(positionOf(sub, market.id).lots) === side);
  let ranked = ranks.get(key);
  if (ranked === undefined) {
    ranked = holders
      .map((sub) => rankOf(world, market, sub))
      .sort(byRank)
      .map(({ sub }) => sub);
    ranks.set(key, ranked);
  }
  const known = ranked;
  return [
    ...known.filter((sub) => holders.includes(sub)),
    ...holders.filter((sub) => !known.includes(sub)),
  ];
}

/** Fifth of the closing order of its side: 5 is closed first; null without a position or mark. */
export function quintileOf(world: World, sub: Sub, market: Market): number | null {
  const { lots } = positionOf(sub, market.id);
  if (lots === 0n || market.mark === null) return null;
  const holders = rankedHolders(world, new Map(), market, sign(lots));
  return 5 - Math.floor((5 * holders.indexOf(sub)) / holders.length);
}

function byRank(a: Ranked, b: Ranked): number {
  if (a.class !== b.class) return a.class - b.class;
  const order = b.top * a.bottom - a.top * b.bottom;
  return order === 0n ? a.sub.id - b.sub.id : order < 0n ? -1 : 1;
}

function rankOf(world: World, market: Market, sub: Sub): Ranked {
  const { lots, cost } = positionOf(sub, market.id);
  if (sub.house) return { sub, class: 3, top: 0n, bottom: 1n };
  const equity = partyEquityOf(world, unitOf(sub, market));
  const upnl = upnlOf(sub, market);
  const notional = max(1n, valueOf(market, abs(lots)));
  const paid = max(1n, abs(cost));
  const top = upnl > 0n ? upnl * notional : upnl * max(1n, equity);
  const bottom = upnl > 0n ? paid * max(1n, equity) : paid * notional;
  const moved = lots * (atSettlement(market, lots) - atMark(market, lots)) * market.unit;
  if (equity + moved < min(0n, equity)) return { sub, class: 4, top, bottom };
  if (equity <= 0n) return { sub, class: 2, top: 0n, bottom: 1n };
  return { sub, class: upnl > 0n ? 0 : 1, top, bottom };
}
