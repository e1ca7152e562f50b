/**
 * Impact prices: the average price of a market order of a given notional, as an exact
 * fraction of ticks. Only lots that it could fill count (fillable-lots.ts). At most 256 levels are
 * walked; a side that cannot fill the notional within them is too thin and has no impact price.
 */
import { minBig } from '../../num/arithmetic.ts';
import { NO_LEVEL, type PriceLadder } from '../book/price-ladder.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { Market } from '../market/market.ts';
import { MAX_PRICE_TICKS } from '../../num/units.ts';
import { FillableLots } from './fillable-lots.ts';

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
  const ladder = market.book.ladder(side);
  const unit = market.spec.quantaPerTickLot;
  // The prices of a frozen market are only shown.
  const fillable = market.frozen ? null : new FillableLots(state, market);
  return notionalQuanta < EXACT_NOTIONAL
    ? walkExact(ladder, unit, notionalQuanta, fillable)
    : walkLarge(ladder, BigInt(unit), notionalQuanta, fillable);
}

/** Whether the lots that rest on a side, fillable or not, suffice for the impact notional. */
export function hasDepth(market: Market, side: 1 | -1): boolean {
  const { funding, quantaPerTickLot } = market.spec;
  const ladder = market.book.ladder(side);
  return walkLarge(ladder, BigInt(quantaPerTickLot), funding.impactNotional, null) !== null;
}

/** Lots of a level: all of them, or those that a taker of `wanted` could fill; null: too many. */
function sizeOf(
  ladder: PriceLadder,
  level: number,
  wanted: number,
  fillable: FillableLots | null,
): number | null {
  const total = ladder.total(level);
  const isHouse = ladder.houseTotal(level) === total;
  return isHouse || fillable === null ? total : fillable.take(ladder, level, wanted);
}

/** A level's value that is inexact in a double is above the notional, whatever its rounding. */
function walkExact(
  ladder: PriceLadder,
  unit: number,
  notionalQuanta: bigint,
  fillable: FillableLots | null,
): Fraction | null {
  const wanted = Number(notionalQuanta);
  let filledLots = 0;
  let filled = 0;
  let level = ladder.bestLevel();
  for (let walked = 0; walked < MAX_LEVELS && level !== NO_LEVEL; walked++) {
    const price = ladder.price(level);
    const enough = Math.floor((wanted - filled) / (price * unit)) + 1;
    const size = sizeOf(ladder, level, enough, fillable);
    if (size === null) return null;
    const value = size * price * unit;
    if (filled + value >= wanted) {
      const bigPrice = BigInt(price);
      const before = BigInt(unit) * BigInt(filledLots) * bigPrice;
      return average(notionalQuanta, bigPrice, before, BigInt(filled));
    }
    filledLots += size;
    filled += value;
    level = ladder.nextLevel(level);
  }
  return null;
}

function walkLarge(
  ladder: PriceLadder,
  unit: bigint,
  notionalQuanta: bigint,
  fillable: FillableLots | null,
): Fraction | null {
  let filledLots = 0n;
  let filled = 0n;
  let level = ladder.bestLevel();
  for (let walked = 0; walked < MAX_LEVELS && level !== NO_LEVEL; walked++) {
    const price = BigInt(ladder.price(level));
    const enough = minBig((notionalQuanta - filled) / (price * unit) + 1n, MOST_LOTS);
    const lots = sizeOf(ladder, level, Number(enough), fillable);
    if (lots === null) return null;
    const size = BigInt(lots);
    const value = size * price * unit;
    if (filled + value >= notionalQuanta) {
      return average(notionalQuanta, price, unit * filledLots * price, filled);
    }
    filledLots += size;
    filled += value;
    level = ladder.nextLevel(level);
  }
  return null;
}

/** notional ÷ (unit × lots); the last level fills (notional − filled) ÷ (price × unit) of them. */
function average(wanted: bigint, price: bigint, before: bigint, filled: bigint): Fraction {
  return { ticks: wanted * price, of: before + (wanted - filled) };
}
