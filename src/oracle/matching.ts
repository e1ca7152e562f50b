/** An incoming order against the book (R-2.3, R-2.5 to, D-5, D-9, D-11, D-13). */
import type { EndReason } from '../engine/refusals.ts';
import { affordsFill } from './afford.ts';
import { bestOf, sizeOf, type Resting } from './book.ts';
import { end } from './endings.ts';
import { feesOf, NO_FEES, type Fees } from './fees.ts';
import { fill, makerOf } from './fills.ts';
import { fillable, retire } from './legs.ts';
import { isFrozen } from './mark.ts';
import { max, min, roundedDown, sign } from './numbers.ts';
import { openInterest } from './checks.ts';
import { noteTaken } from './house.ts';
import { allowanceOf } from './square-root.ts';
import {
  leftOf,
  marketOf,
  must,
  positionOf,
  subOf,
  type Market,
  type Order,
  type Sub,
  type World,
} from './world.ts';

/** worst price at which a taker may fill, rounded inward. */
export function bandLimit(market: Market, side: bigint): bigint {
  const mark = market.mark ?? 0n;
  return mark + side * roundedDown(mark, market.rates.band);
}

/** Fills as much as possible; returns the reason to end the rest, or null if it may rest. */
export function match(world: World, order: Order): EndReason | null {
  const market = marketOf(world, order.market);
  const taker = subOf(world, order.sub);
  const side = sign(order.lots);
  const band = bandLimit(market, side);
  while (leftOf(order) > 0n) {
    const maxLots = order.reduceOnly ? fillable(world, order) : leftOf(order);
    if (maxLots === 0n) return 'reduceOnly';
    const resting = bestOf(world, market, -side);
    if (resting === undefined || (resting.price - order.price) * side > 0n) return null;
    if ((resting.price - band) * side > 0n) return 'priceBand';
    const maker = makerOf(world, resting);

    if (maker.account === taker.account) {
      const mode = must(world.accounts[taker.account]).selfTrade ?? world.config.selfTradeExpire;
      if (mode !== 0) end(world, must(resting.order), 'cancelled', 'selfTrade');
      if (mode !== 1) return 'selfTrade';
      continue;
    }
    let size = makersSize(world, resting, min(leftOf(order), maxLots));
    if (size === 0n) continue;
    if (isFrozen(world, market)) {
      // D-13: only lots that reduce both sides; the house counts as opening.
      const takerReduces = reducedBy(taker, market, side);
      const makerReduces = reducedBy(maker, market, -side);
      if (takerReduces === 0n || resting.order === null) return 'staleIndex';
      if (makerReduces === 0n) {
        end(world, resting.order, 'cancelled', 'staleIndex');
        continue;
      }
      size = min(size, min(takerReduces, makerReduces));
    }
    if (resting.order === null) {
      size = allowanceOf(world, market, -side, resting.price, size);
    }
    const takerFees = feesOf(market, order, 'taker', size, resting.price);
    const takes = { lots: side * size, price: resting.price, fees: takerFees, resting: null };
    if (!affordsFill(world, taker, market, takes)) return 'insufficientMargin';
    const makerFees =
      resting.order === null
        ? NO_FEES
        : feesOf(market, resting.order, 'maker', size, resting.price);
    if (!makerAffords(world, market, resting, -side * size, makerFees)) continue;
    if (growsBeyondLimit(world, market, taker, maker, side * size)) return 'openInterest';
    fill(world, market, resting, {
      maker: { sub: maker, order: resting.order, fees: makerFees },
      taker: { sub: taker, order, fees: takerFees },
      side,
      size,
    });
    if (resting.segment !== null) noteTaken(world, market, resting.segment, size);
  }
  return null;
}

/** Size that the maker may fill of `wanted`; 0 if none, and then it has left the book. */
export function makersSize(world: World, resting: Resting, wanted: bigint): bigint {
  const size = min(wanted, sizeOf(resting));
  const { order } = resting;
  if (order?.reduceOnly !== true) return size;
  const maxLots = min(size, fillable(world, order));
  if (maxLots > 0n) return maxLots;
  if (order.leg) retire(world, order);
  else end(world, order, 'cancelled', 'reduceOnly');
  return 0n;
}

/** A maker that cannot afford its fill is cancelled, and matching continues. */
export function makerAffords(
  world: World,
  market: Market,
  { order, price }: Resting,
  lots: bigint,
  fees: Fees,
): boolean {
  if (order === null) return true;
  const resting = order.reduceOnly ? null : order;
  const maker = subOf(world, order.sub);
  if (affordsFill(world, maker, market, { lots, price, fees, resting })) return true;
  end(world, order, 'cancelled', 'insufficientMargin');
  return false;
}

/** Max lots of a trade by which this side reduces its position. */
const reducedBy = (sub: Sub, market: Market, side: bigint): bigint =>
  max(0n, -side * positionOf(sub, market.id).lots);

function growsBeyondLimit(
  world: World,
  market: Market,
  taker: Sub,
  maker: Sub,
  lots: bigint,
): boolean {
  const growth = (before: bigint, by: bigint): bigint => max(before + by, 0n) - max(before, 0n);
  const grown =
    growth(positionOf(taker, market.id).lots, lots) +
    growth(positionOf(maker, market.id).lots, -lots);
  return grown > 0n && openInterest(world, market.id) + grown > market.openInterestCap;
}
