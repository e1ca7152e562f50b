/** Auto-deleveraging (R-6.4, D-32): positions that nobody takes are closed against their other side, and what equity is behind them goes along. */
import { shareOf } from './engine-orders.ts';
import { equityOf, marketsOf, type Unit } from './risk-units.ts';
import { upnlOf, valueOf } from './margin.ts';
import { abs, max, min, shareDown, sign } from './numbers.ts';
import { transferPosition } from './transfers-of-positions.ts';
import {
  book,
  bookMargin,
  INSURANCE,
  isIsolated,
  positionOf,
  subOf,
  type Market,
  type Sub,
  type World,
} from './world.ts';

/** `equity` is what is behind the unit's positions; it ends at exactly 0. */
export function deleverage(world: World, unit: Unit, equity: bigint): void {
  const markets = marketsOf(world, unit);
  const shares = markets.map((market) => {
    const { weight, total } = shareOf(world, unit, market);
    return shareDown(equity * weight, total);
  });
  let left = equity;
  markets.forEach((market, i) => {
    const money = i === markets.length - 1 ? left : (shares[i] ?? 0n);
    left -= money;
    closeAgainst(world, unit.sub, market, money);
  });
}

/** The ranked are closed one by one; each gets its part of the money by size, rounded down, and the last one the rest. */
function closeAgainst(world: World, sub: Sub, market: Market, money: bigint): void {
  const all = positionOf(sub, market.id).lots;
  let open = abs(all);
  let left = money;
  for (const other of ranked(world, market, -sign(all))) {
    const closed = min(open, abs(positionOf(other, market.id).lots));
    open -= closed;
    const share = open === 0n ? left : shareDown(money * closed, abs(all));
    left -= share;
    transferPosition(world, market, sub, other, sign(all) * closed, share, 'adl');
    payFlatMargin(world, other, market);
    if (open === 0n) return;
  }
}

/** An isolated position that was closed beyond its margin: insurance pays if it can, else its owner's cash. */
function payFlatMargin(world: World, sub: Sub, market: Market): void {
  const { lots, margin } = positionOf(sub, market.id);
  if (lots !== 0n || margin >= 0n) return;
  const insurance = subOf(world, INSURANCE);
  book(world, insurance.cash >= -margin ? insurance : sub, margin, 'insurance');
  bookMargin(world, sub, market.id, -margin, 'insurance');
}

interface Ranked {
  readonly sub: Sub;
  /** 0: in profit; 1: the others; 2: without equity; 3: the house. */
  readonly class: number;
  readonly top: bigint;
  readonly bottom: bigint;
}

/** Who holds this side, in the order in which they are closed. */
function ranked(world: World, market: Market, side: bigint): Sub[] {
  return world.subs
    .filter((sub) => sign(positionOf(sub, market.id).lots) === side)
    .map((sub) => rankOf(world, market, sub))
    .sort((a, b) => {
      if (a.class !== b.class) return a.class - b.class;
      const order = b.top * a.bottom - a.top * b.bottom;
      return order === 0n ? a.sub.id - b.sub.id : order < 0n ? -1 : 1;
    })
    .map(({ sub }) => sub);
}

function rankOf(world: World, market: Market, sub: Sub): Ranked {
  if (sub.house) return { sub, class: 3, top: 0n, bottom: 1n };
  const equity = equityOf(world, { sub, isolated: isIsolated(sub, market.id) ? market : null });
  if (equity <= 0n) return { sub, class: 2, top: 0n, bottom: 1n };
  const { lots, cost } = positionOf(sub, market.id);
  const upnl = upnlOf(sub, market);
  const notional = max(1n, valueOf(market, abs(lots)));
  const paid = max(1n, abs(cost));
  return upnl > 0n
    ? { sub, class: 0, top: upnl * notional, bottom: paid * equity }
    : { sub, class: 1, top: upnl * equity, bottom: paid * notional };
}
