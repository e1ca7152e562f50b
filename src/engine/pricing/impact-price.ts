/**
 * Impact prices: the average price of a market order of a given notional, as an exact
 * fraction of ticks. Only lots that it could fill count (fillable-lots.ts). At most 256 levels are
 * walked; a side that cannot fill the notional within them is too thin and has no impact price. A
 * premium sample then walks again without small orders (large-orders.ts).
 */
import { minBig } from '../../num/arithmetic.ts';
import { NO_LEVEL, type PriceLadder } from '../book/price-ladder.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { Market } from '../market/market.ts';
import { MAX_PRICE_TICKS } from '../../num/units.ts';
import { FillableLots } from './fillable-lots.ts';
import { LargeOrders } from './large-orders.ts';

const MAX_LEVELS = 256;
/** Below this, a notional is walked in doubles, exactly: every relevant product is below 2^53. */
const EXACT_NOTIONAL = 2n ** 52n;
const MOST_LOTS = BigInt(Number.MAX_SAFE_INTEGER);

/** `ticks` ÷ `of`, both > 0. */
export interface Fraction {
  readonly ticks: bigint;
  readonly of: bigint;
}

/** Impact bid and ask in whole ticks, rounded outward: bid down (at least 1), ask up. */
export interface ImpactQuotes {
  readonly bid: number;
  readonly ask: number;
}

/** Both impact prices for the market's impact notional; null if a side is too thin. */
export function impactQuotes(state: ExchangeState, market: Market): ImpactQuotes | null {
  const { impactNotional } = market.spec.funding;
  const bid = impactPrice(state, market, 1, impactNotional);
  if (bid === null) return null;
  const ask = impactPrice(state, market, -1, impactNotional);
  if (ask === null) return null;
  const up = ask.ticks % ask.of === 0n ? 0n : 1n;
  return {
    bid: Math.max(1, Number(bid.ticks / bid.of)),
    ask: Math.min(MAX_PRICE_TICKS, Number(ask.ticks / ask.of + up)),
  };
}

/** Average fill price of a notional > 0 against one side (1: the bids); null if it is too thin. */
export function impactPrice(
  state: ExchangeState,
  market: Market,
  side: 1 | -1,
  notionalQuanta: bigint,
): Fraction | null {
  // The prices of a frozen market are only shown.
  const fillable = market.frozen ? null : new FillableLots(state, market);
  return new Walk(market, side, fillable).price(notionalQuanta);
}

/** The impact price of a premium sample; null if the side is too thin even without small orders. */
export function premiumImpact(state: ExchangeState, market: Market, side: 1 | -1): Fraction | null {
  const { impactNotional } = market.spec.funding;
  const all = new Walk(market, side, new FillableLots(state, market));
  const price = all.price(impactNotional);
  if (!all.isCut) return price;
  const large = new LargeOrders(state, market, new FillableLots(state, market));
  return new Walk(market, side, large).price(impactNotional);
}

/** Whether the resting lots, fillable or not, suffice for the impact price of a premium sample. */
export function hasDepth(state: ExchangeState, market: Market, side: 1 | -1): boolean {
  const { impactNotional } = market.spec.funding;
  const all = new Walk(market, side, null);
  if (all.price(impactNotional) !== null) return true;
  const large = new LargeOrders(state, market, null);
  return all.isCut && new Walk(market, side, large).price(impactNotional) !== null;
}

/** Lots of a level that count, at most `wanted`; null beyond a limit. */
interface CountedLots {
  take(ladder: PriceLadder, level: number, wanted: number): number | null;
}

/** One walk along a side of a book, best price first. */
class Walk {
  /** Whether a limit ended the walk. */
  isCut = false;
  private readonly ladder: PriceLadder;
  private readonly unit: number;
  private readonly counted: CountedLots | null;
  private levelsLeft = MAX_LEVELS;

  /** @param counted null: all lots */
  constructor(market: Market, side: 1 | -1, counted: CountedLots | null) {
    this.ladder = market.book.ladder(side);
    this.unit = market.spec.quantaPerTickLot;
    this.counted = counted;
  }

  /** null: the side cannot fill the notional, or a limit ends the walk. */
  price(notional: bigint): Fraction | null {
    return notional < EXACT_NOTIONAL ? this.exact(notional) : this.large(notional);
  }

  /** A level's value that is inexact in a double is above the notional, whatever its rounding. */
  private exact(notional: bigint): Fraction | null {
    const { ladder, unit } = this;
    const wanted = Number(notional);
    let filledLots = 0;
    let filled = 0;
    for (let level = ladder.bestLevel(); level !== NO_LEVEL; level = ladder.nextLevel(level)) {
      const price = ladder.price(level);
      const enough = Math.floor((wanted - filled) / (price * unit)) + 1;
      const size = this.sizeOf(level, enough);
      if (size === null) return null;
      const value = size * price * unit;
      if (filled + value >= wanted) {
        const bigPrice = BigInt(price);
        const before = BigInt(unit) * BigInt(filledLots) * bigPrice;
        return average(notional, bigPrice, before, BigInt(filled));
      }
      filledLots += size;
      filled += value;
    }
    return null;
  }

  private large(notional: bigint): Fraction | null {
    const { ladder } = this;
    const unit = BigInt(this.unit);
    let filledLots = 0n;
    let filled = 0n;
    for (let level = ladder.bestLevel(); level !== NO_LEVEL; level = ladder.nextLevel(level)) {
      const price = BigInt(ladder.price(level));
      const enough = minBig((notional - filled) / (price * unit) + 1n, MOST_LOTS);
      const lots = this.sizeOf(level, Number(enough));
      if (lots === null) return null;
      const size = BigInt(lots);
      const value = size * price * unit;
      if (filled + value >= notional) {
        return average(notional, price, unit * filledLots * price, filled);
      }
      filledLots += size;
      filled += value;
    }
    return null;
  }

  /** Lots of the next level that count, maybe more than `wanted`; null beyond a limit. */
  private sizeOf(level: number, wanted: number): number | null {
    const { ladder, counted } = this;
    const total = ladder.total(level);
    const isWhole = counted === null || ladder.houseTotal(level) === total;
    const size = isWhole ? total : counted.take(ladder, level, wanted);
    this.isCut = this.levelsLeft === 0 || size === null;
    if (this.isCut) return null;
    if (size !== 0) this.levelsLeft -= 1;
    return size;
  }
}

/** notional ÷ (unit × lots); the last level fills (notional − filled) ÷ (price × unit) of them. */
function average(wanted: bigint, price: bigint, before: bigint, filled: bigint): Fraction {
  return { ticks: wanted * price, of: before + (wanted - filled) };
}
