/** Engine orders (R-2.6a, R-6.2 step 2, R-6.3): sell a liquidated position on the book. */
import { bestOf } from './book.ts';
import { end, touch } from './endings.ts';
import { feesOf, NO_FEES } from './fees.ts';
import { fill, makerOf } from './fills.ts';
import { freshMarketsOf, type Unit } from './risk-units.ts';
import { admissionEquity, atSettlement, maintenanceOf, valueOf } from './margin.ts';
import { bandLimit, makerAffords, makersSize } from './matching.ts';
import { abs, max, min, ofPpm, roundedUp, shareDown, shareUp, sum } from './numbers.ts';
import { noteTaken } from './house.ts';
import { allowanceOf } from './square-root.ts';
import {
  leftOf,
  positionOf,
  emit,
  type Market,
  type Order,
  type Sub,
  type World,
} from './world.ts';

const MILLION = 1_000_000n;
const NEVER_MS = 9_007_199_254_741n;
const MOST_TICKS = 2n ** 31n - 1n;

/** A position's share of the equity behind it: equity × weight ÷ total. */
export interface Share {
  readonly equity: bigint;
  readonly weight: bigint;
  readonly total: bigint;
}

/** fresh positions share by maintenance requirement; without any, by notional. */
export function shareOf(world: World, unit: Unit, market: Market): Share {
  const equity = admissionEquity(world, unit.sub, unit.isolated);
  const open = freshMarketsOf(world, unit);
  const byMaintenance = (other: Market): bigint => maintenanceOf(unit.sub, other);
  const byNotional = (other: Market): bigint =>
    valueOf(other, abs(positionOf(unit.sub, other.id).lots));
  const total = sum(open.map(byMaintenance));
  return total > 0n
    ? { equity, weight: byMaintenance(market), total }
    : { equity, weight: byNotional(market), total: sum(open.map(byNotional)) };
}

/** Value (for a short: cost) of the whole position at bankruptcy, times `total`. */
function bankruptValue(sub: Sub, market: Market, { equity, weight, total }: Share): bigint {
  const { lots } = positionOf(sub, market.id);
  const value = valueOf(market, abs(lots)) * total;
  return lots > 0n ? value - equity * weight : value + equity * weight;
}

/** The price in ticks at which the position has that value, less a fee; rounded up or down. */
function priceAt(
  sub: Sub,
  market: Market,
  share: Share,
  feePpm: bigint,
  rounded: 'up' | 'down',
): bigint {
  const { lots } = positionOf(sub, market.id);
  const top = bankruptValue(sub, market, share) * MILLION;
  const kept = lots > 0n ? MILLION - feePpm : MILLION + feePpm;
  const bottom = abs(lots) * market.unit * share.total * kept;
  const price = rounded === 'up' ? shareUp(top, bottom) : shareDown(top, bottom);
  return max(0n, min(MOST_TICKS, price));
}

/** rounded against the liquidated position. */
export const bankruptcyPrice = (sub: Sub, market: Market, share: Share): bigint =>
  priceAt(sub, market, share, 0n, positionOf(sub, market.id).lots > 0n ? 'down' : 'up');

/** Worst price at which the position may be closed now. */
export function engineLimit(world: World, sub: Sub, market: Market, share: Share): bigint {
  const { lots } = positionOf(sub, market.id);
  const long = lots > 0n;
  const fee = BigInt(world.config.liquidationFeePpm);
  const limit = priceAt(sub, market, share, fee, long ? 'up' : 'down');
  const band = bandLimit(market, long ? -1n : 1n);
  // Within half of the first tier's maintenance rate of the settlement price.
  const settlement = atSettlement(market, lots);
  const rate = BigInt(market.spec.tiers[0]?.maintenanceMarginPpm ?? 0);
  return long
    ? max(max(1n, band), max(limit, shareUp(settlement * (2n * MILLION - rate), 2n * MILLION)))
    : min(band, min(limit, shareDown(settlement * (2n * MILLION + rate), 2n * MILLION)));
}

/** Closes up to `size` lots on the book; returns the unfilled size. */
export function sellOnBook(
  world: World,
  sub: Sub,
  market: Market,
  share: Share,
  size: bigint,
): bigint {
  const before = positionOf(sub, market.id).lots;
  const side = before > 0n ? -1n : 1n;
  const price = engineLimit(world, sub, market, share);
  const order = engineOrder(world, sub, market, side * size, {
    price,
    ioc: true,
    postOnly: false,
  });
  const worth = bankruptValue(sub, market, share);
  while (leftOf(order) > 0n) {
    const resting = bestOf(world, market, -side);
    if (resting === undefined || (resting.price - order.price) * side > 0n) break;
    const maker = makerOf(world, resting);
    if (maker.account === sub.account && resting.order !== null) {
      end(world, resting.order, 'cancelled', 'selfTrade');
      continue;
    }
    let filled = makersSize(world, resting, leftOf(order));
    if (filled === 0n) continue;
    if (resting.order === null) {
      filled = allowanceOf(world, market, -side, resting.price, filled);
    }
    // D-33: no taker fee could pay a rebate.
    const fees =
      resting.order === null
        ? NO_FEES
        : feesOf(market, resting.order, 'maker', filled, resting.price);
    const makerFees = { ...fees, protocol: max(0n, fees.protocol) };
    if (!makerAffords(world, market, resting, -side * filled, makerFees)) continue;
    const value = filled * resting.price * market.unit;
    const scale = share.total * abs(before);
    const above = -side * (value * scale - worth * filled);
    const fee = roundedUp(value, ofPpm(world.config.liquidationFeePpm));
    const liquidation = min(fee, max(0n, shareDown(above, scale)));
    fill(world, market, resting, {
      maker: { sub: maker, order: resting.order, fees: makerFees },
      taker: { sub, order, fees: { ...NO_FEES, liquidation } },
      side,
      size: filled,
    });
    if (resting.segment !== null) noteTaken(world, market, resting.segment, filled);
  }
  const left = leftOf(order);
  if (left === 0n) end(world, order, 'filled', null);
  else end(world, order, 'cancelled', 'iocRemainder');
  return left;
}

/** The terms of an order that the exchange places in its owner's name. */
export interface EngineTerms {
  readonly price: bigint;
  readonly ioc: boolean;
  readonly postOnly: boolean;
}

/** A reduce-only order of the exchange in its owner's name. */
export function engineOrder(
  world: World,
  sub: Sub,
  market: Market,
  lots: bigint,
  { price, ioc, postOnly }: EngineTerms,
): Order {
  const order: Order = {
    id: world.orders.length + 1,
    sub: sub.id,
    market: market.id,
    type: 'limit',
    lots,
    filled: 0n,
    price,
    ioc,
    postOnly,
    reduceOnly: true,
    expiresMs: NEVER_MS,
    clientId: null,
    originator: null,
    originatorFee: ofPpm(0),
    trigger: null,
    trailing: null,
    period: null,
    engine: true,
    status: 'new',
    reason: null,
    resting: false,
    arrival: 0,
    group: null,
    sibling: null,
    parent: null,
    leg: false,
    parentLive: false,
    armed: false,
    dueAt: null,
    best: null,
    createdAt: world.now,
    updatedAt: world.now,
    updatedSeq: world.seq,
  };
  world.orders.push(order);
  world.live.push(order);
  touch(world, order);
  emit(world, {
    kind: 'orderAccepted',
    orderId: order.id,
    subaccount: sub.id,
    market: market.id,
    lots,
    priceTicks: price,
  });
  return order;
}
