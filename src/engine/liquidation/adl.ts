/**
 * The ranking of auto-deleveraging, by profit and leverage. Holders in profit: descending
 * uPnL × notional ÷ (|cost| × equity). Others: descending uPnL × equity ÷ (|cost| × notional).
 * Compared by cross-multiplication.
 */
import { absBig, minBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { lots } from '../../num/units.ts';
import type { Exposure } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { mustMark, upnlOf } from '../margin/requirement.ts';
import { unitOf } from '../margin/risk-unit.ts';
import { settlementTicks } from '../pricing/settlement-price.ts';

/**
 * 0: in profit; 1: the others; 2: without equity; 3: the house; 4: equity after closing below zero.
 */
type Class = 0 | 1 | 2 | 3 | 4;

interface Ranked {
  readonly exposure: Exposure;
  readonly class: Class;
  /** Descending top ÷ bottom, bottom > 0. */
  readonly top: bigint;
  readonly bottom: bigint;
}

/** Ranks of one round of clearing; each market and side is ranked once, on first use. */
export class Ranks {
  private readonly state: ExchangeState;
  private readonly ranked = new Map<number, readonly Exposure[]>();

  constructor(state: ExchangeState) {
    this.state = state;
  }

  /** Current holders of this side. Holders added after the ranking follow in ascending id. */
  holders(market: Market, side: 1 | -1): readonly Exposure[] {
    const key = market.id * 2 + (side > 0 ? 1 : 0);
    const now = holdersOf(this.state, market, side);
    const known = this.ranked.get(key);
    if (known === undefined) {
      const ranked = rankHolders(this.state, market, now);
      this.ranked.set(key, ranked);
      return ranked;
    }
    const ids = new Set(known);
    const holding = new Set(now);
    return [
      ...known.filter((exposure) => holding.has(exposure)),
      ...now.filter((exposure) => !ids.has(exposure)),
    ];
  }
}

function holdersOf(state: ExchangeState, market: Market, side: 1 | -1): Exposure[] {
  const holders: Exposure[] = [];
  for (const id of market.holders) {
    const exposure = state.subaccount(id).exposure(market.id);
    if (exposure.positionLots > 0 === side > 0) holders.push(exposure);
  }
  return holders;
}

/** The holders of one side in closing order. */
export function rankHolders(
  state: ExchangeState,
  market: Market,
  holders: readonly Exposure[],
): Exposure[] {
  return holders
    .map((exposure) => rank(state, market, exposure))
    .sort(byRank)
    .map(({ exposure }) => exposure);
}

function rank(state: ExchangeState, market: Market, exposure: Exposure): Ranked {
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

function byRank(a: Ranked, b: Ranked): number {
  if (a.class !== b.class) return a.class - b.class;
  const left = a.top * b.bottom;
  const right = b.top * a.bottom;
  if (left !== right) return left > right ? -1 : 1;
  return a.exposure.subaccount - b.exposure.subaccount;
}
