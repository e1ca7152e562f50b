/**
 * The ranking of auto-deleveraging, by profit and leverage. Holders in profit: descending
 * uPnL × notional ÷ (|cost| × equity). Others: descending uPnL × equity ÷ (|cost| × notional).
 * Compared by cross-multiplication.
 */
import { absBig, minBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { must } from '../../base/assert.ts';
import { lots, type SubaccountId } from '../../num/units.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import type { IdSet } from '../market/holders.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { mustMark, upnlOf } from '../margin/requirement.ts';
import { unitOf } from '../margin/risk-unit.ts';
import { settlementTicks } from '../pricing/settlement-price.ts';

/**
 * 0: in profit; 1: the others; 2: without equity; 3: the house; 4: equity after closing below zero.
 */
type Class = 0 | 1 | 2 | 3 | 4;

export interface Ranked {
  readonly exposure: Exposure;
  readonly class: Class;
  /** Descending top ÷ bottom, bottom > 0. */
  readonly top: bigint;
  readonly bottom: bigint;
}

/** Ranks of one round of clearing; each market and side is ranked once, on first use. */
export class Ranks {
  private readonly state: ExchangeState;
  private readonly sides = new Map<number, SideRanks>();

  constructor(state: ExchangeState) {
    this.state = state;
  }

  /** Current holders of this side. Holders added after the ranking follow in ascending id. */
  holders(market: Market, side: 1 | -1): Iterable<Exposure> {
    const key = market.id * 2 + (side > 0 ? 1 : 0);
    let ranks = this.sides.get(key);
    if (ranks === undefined) {
      ranks = new SideRanks(this.state, market, side);
      this.sides.set(key, ranks);
    }
    return ranks.holders();
  }
}

/**
 * The ranking of one side. A clearing closes its first holders, so a walk begins where they end:
 * the clearing of n units against n holders visits each a few times, not n times.
 */
class SideRanks {
  private readonly state: ExchangeState;
  private readonly market: Market;
  private readonly side: 1 | -1;
  private readonly ranked: readonly Ranked[];
  private readonly places = new Map<SubaccountId, number>();
  /** Holders at the ranking, and at the last walk. */
  private readonly first: IdSet;
  private last: IdSet;
  /** All that are ranked before this place had closed at the last walk. */
  private start = 0;

  constructor(state: ExchangeState, market: Market, side: 1 | -1) {
    this.state = state;
    this.market = market;
    this.side = side;
    this.ranked = rankHolders(state, market, holdersOf(state, market, side));
    for (const { exposure } of this.ranked) this.places.set(exposure.subaccount, this.places.size);
    this.first = market.holders.of(side).copy();
    this.last = this.first;
  }

  *holders(): Generator<Exposure> {
    const now = this.market.holders.of(this.side);
    // One that has closed and holds again keeps its place.
    for (const id of now.without(this.last)) {
      this.start = Math.min(this.start, this.places.get(id) ?? this.start);
    }
    this.last = now.copy();
    for (let place = this.start; place < this.ranked.length; place++) {
      const { exposure } = must(this.ranked[place], 'a place is within the ranking');
      if (isOnSide(exposure, this.side)) yield exposure;
      else if (place === this.start) this.start += 1;
    }
    for (const id of now.without(this.first)) {
      yield this.state.subaccount(id).exposure(this.market.id);
    }
  }
}

const isOnSide = ({ positionLots }: Exposure, side: 1 | -1): boolean =>
  side > 0 ? positionLots > 0 : positionLots < 0;

export function holdersOf(state: ExchangeState, market: Market, side: 1 | -1): Exposure[] {
  return Array.from(market.holders.of(side), (id) => state.subaccount(id).exposure(market.id));
}

/** The holders of one side in closing order. */
export function rankHolders(
  state: ExchangeState,
  market: Market,
  holders: readonly Exposure[],
): Ranked[] {
  return holders.map((exposure) => rank(state, market, exposure)).sort(byRank);
}

export function rank(state: ExchangeState, market: Market, exposure: Exposure): Ranked {
  const none = { exposure, top: 0n, bottom: 1n };
  if (state.subaccount(exposure.subaccount).role === 'house') return { ...none, class: 3 };
  const equity = unitOf(state, exposure).admissionEquity(state);
  const { quantaPerTickLot } = market.spec;
  const mark = mustMark(market);
  const change = BigInt(exposure.positionLots) * BigInt(settlementTicks(market) - mark);
  const fallsBelow = equity + change * BigInt(quantaPerTickLot) < minBig(0n, equity);
  if (equity <= 0n && !fallsBelow) return { ...none, class: 2 };
  const upnl = upnlOf(exposure, market);
  const size = lots(Math.abs(exposure.positionLots));
  const value = atLeastOne(notional(size, mark, quantaPerTickLot));
  const cost = atLeastOne(absBig(exposure.costQuanta));
  const own = atLeastOne(equity);
  return upnl > 0n
    ? { exposure, class: fallsBelow ? 4 : 0, top: upnl * value, bottom: cost * own }
    : { exposure, class: fallsBelow ? 4 : 1, top: upnl * own, bottom: cost * value };
}

const atLeastOne = (factor: bigint): bigint => (factor > 0n ? factor : 1n);

export function byRank(a: Ranked, b: Ranked): number {
  if (a.class !== b.class) return a.class - b.class;
  const left = a.top * b.bottom;
  const right = b.top * a.bottom;
  if (left !== right) return left > right ? -1 : 1;
  return a.exposure.subaccount - b.exposure.subaccount;
}
