/**
 * Auto-deleveraging: a position that nobody takes is closed against those who hold the other side, at the mark, and what
 * equity is left behind it (mostly a loss) goes to them pro rata, so that the bankrupt side ends at exactly 0. Who has gained
 * most with the most leverage comes first.
 */
import { absBig, floorBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { lots } from '../../num/units.ts';
import { creditMargin } from '../accounts/isolated-ledger.ts';
import { credit } from '../accounts/ledger.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import { quanta } from '../../num/units.ts';
import type { State } from '../state.ts';
import { equityShare } from './bankruptcy.ts';
import { mustMark, upnlOf } from './requirement.ts';
import { transferPosition } from './position-transfer.ts';
import { unitOf, type RiskUnit } from './risk-unit.ts';

/** 0: in profit; 1: the others; 2: without equity; 3: the house. */
type Class = 0 | 1 | 2 | 3;

interface Ranked {
  readonly exposure: Exposure;
  readonly class: Class;
  /** Descending top ÷ bottom, bottom > 0. */
  readonly top: bigint;
  readonly bottom: bigint;
}

/** Closes every position of the unit; `equity` is what is behind them, positive or negative. */
export function deleverage(state: State, unit: RiskUnit, equity: bigint): void {
  const positions = unit.positions();
  const shares = positions.map((position) => equityShare(state, unit, equity, position));
  let left = equity;
  positions.forEach((position, i) => {
    const share = shares[i];
    const last = share === undefined || i === positions.length - 1;
    const money = last ? left : floorBig(share.equity * share.weight, share.total);
    left -= money;
    closeAgainstRanked(state, position, money);
  });
}

function closeAgainstRanked(state: State, position: Exposure, money: bigint): void {
  const market = state.market(position.market);
  const size = Math.abs(position.positionLots);
  const side = position.positionLots > 0 ? 1 : -1;
  const total = BigInt(size);
  let open = size;
  let left = money;
  for (const { exposure } of rankOpposite(state, market, position)) {
    const closed = Math.min(open, Math.abs(exposure.positionLots));
    open -= closed;
    const share = open === 0 ? left : floorBig(money * BigInt(closed), total);
    left -= share;
    transferPosition(state, position, exposure, lots(side * closed), share, 'adl');
    settleFlatMargin(state, exposure);
    if (open === 0) return;
  }
}

/** An isolated position that was closed beyond its margin: insurance pays if it can, else its owner's cash. */
function settleFlatMargin(state: State, exposure: Exposure): void {
  const debt = -exposure.marginQuanta;
  if (exposure.positionLots !== 0 || debt <= 0n) return;
  const payer =
    state.insurance.cash >= debt ? state.insurance : state.subaccount(exposure.subaccount);
  credit(state, payer, quanta(-debt), 'insurance');
  creditMargin(state, exposure, debt, 'insurance');
}

/** Holders of the other side, in the order in which they are closed. */
export function rankOpposite(state: State, market: Market, position: Exposure): readonly Ranked[] {
  const ranked: Ranked[] = [];
  for (const id of market.holders) {
    const exposure = state.subaccount(id).exposure(market.id);
    if (exposure.positionLots > 0 === position.positionLots > 0) continue;
    ranked.push(rank(state, market, exposure));
  }
  return ranked.sort(byRank);
}

function rank(state: State, market: Market, exposure: Exposure): Ranked {
  const none = { exposure, top: 0n, bottom: 1n };
  if (state.subaccount(exposure.subaccount).role === 'house') return { ...none, class: 3 };
  const { equity } = unitOf(state, exposure).figures(state);
  if (equity <= 0n) return { ...none, class: 2 };
  const upnl = upnlOf(exposure, market);
  const size = lots(Math.abs(exposure.positionLots));
  const value = atLeastOne(notional(size, mustMark(market), market.spec.quantaPerTickLot));
  const cost = atLeastOne(absBig(exposure.costQuanta));
  return upnl > 0n
    ? { exposure, class: 0, top: upnl * value, bottom: cost * equity }
    : { exposure, class: 1, top: upnl * equity, bottom: cost * value };
}

const atLeastOne = (factor: bigint): bigint => (factor > 0n ? factor : 1n);

function byRank(a: Ranked, b: Ranked): number {
  if (a.class !== b.class) return a.class - b.class;
  const left = a.top * b.bottom;
  const right = b.top * a.bottom;
  if (left !== right) return left > right ? -1 : 1;
  return a.exposure.subaccount - b.exposure.subaccount;
}
