/** Equity and requirements, each worked out from nothing whenever it is asked for. */
import { abs, max, min, ofPpm, roundedUp, shareUp, sign, sum } from './numbers.ts';
import {
  isIsolated,
  leftOf,
  marketOf,
  positionOf,
  settingOf,
  type Market,
  type Order,
  type Sub,
  type World,
} from './world.ts';

/** lots × mark; without a mark nothing has a value yet. */
export const valueOf = (market: Market, lots: bigint): bigint =>
  lots * (market.mark ?? 0n) * market.unit;

/** lots × mark − cost. */
export function upnlOf(sub: Sub, market: Market): bigint {
  const { lots, cost } = positionOf(sub, market.id);
  return lots === 0n ? 0n : valueOf(market, lots) - cost;
}

/** the integral of the rate over the tiers, rounded up once. */
export function required(
  market: Market,
  notional: bigint,
  which: 'initial' | 'maintenance',
): bigint {
  const { tiers } = market.rates;
  const parts = tiers.flatMap((tier, i) => {
    const top = tiers[i + 1]?.floor ?? notional;
    const inTier = min(notional, top) - tier.floor;
    return inTier > 0n ? [{ inTier, rate: tier[which] }] : [];
  });
  const [first, ...others] = parts;
  if (first === undefined) return 0n;
  if (others.length === 0) return roundedUp(first.inTier, first.rate);
  const exact = others.reduce(
    (total, { inTier, rate }) => total.plus(rate.times(inTier.toString())),
    first.rate.times(first.inTier.toString()),
  );
  return BigInt(exact.ceil().toFixed());
}

/** The initial requirement of one who may have asked for a higher ratio (D-26). */
export function requiredOf(sub: Sub, market: Market, notional: bigint): bigint {
  const { ratio } = settingOf(sub, market.id);
  const byMarket = required(market, notional, 'initial');
  return ratio === null ? byMarket : max(byMarket, roundedUp(notional, ofPpm(Number(ratio))));
}

/** Orders on the book that can open something. */
export function openingOrders(world: World, sub: Sub, market: Market, side: bigint): Order[] {
  return world.live.filter(
    (order) =>
      order.resting &&
      order.sub === sub.id &&
      order.market === market.id &&
      !order.reduceOnly &&
      sign(order.lots) === side,
  );
}

const lotsOf = (orders: readonly Order[]): bigint => sum(orders.map(leftOf));

/** the worst of position and all bids, and of position and all asks. */
export function worstLots(world: World, sub: Sub, market: Market): bigint {
  const { lots } = positionOf(sub, market.id);
  return max(
    abs(lots + lotsOf(openingOrders(world, sub, market, 1n))),
    abs(lots - lotsOf(openingOrders(world, sub, market, -1n))),
  );
}

/** The highest fee of a resting order: it can only be a maker (D-6). */
export function restingFee(market: Market, order: Order): bigint {
  const maker = market.rates.maker.isNegative() ? ofPpm(0) : market.rates.maker;
  return roundedUp(leftOf(order) * order.price * market.unit, maker.plus(order.originatorFee));
}

/**
 * D-27: orders of an isolated market hold the margin of what they would open, each at the higher of limit and mark, of the worse side;
 * and their fees. What is on the other side of the position closes it first, at the mark.
 */
export function holdOf(world: World, sub: Sub, market: Market): bigint {
  const { lots } = positionOf(sub, market.id);
  const holds = [1n, -1n].map((side) => {
    const values = openingOrders(world, sub, market, side).map(
      (order) => leftOf(order) * max(order.price, market.mark ?? 0n) * market.unit,
    );
    const position = valueOf(market, abs(lots));
    return sign(lots) === -side
      ? marginTaken(sub, market, 0n, sum(values) - position)
      : marginTaken(sub, market, position, sum(values));
  });
  const fees = [1n, -1n].flatMap((side) =>
    openingOrders(world, sub, market, side).map((order) => restingFee(market, order)),
  );
  return max(holds[0] ?? 0n, holds[1] ?? 0n) + sum(fees);
}

/** R-5.6: margin that opening `opened` Quanta beside `held` takes: at the own ratio, or what the tiers' requirement grows by when that is more. */
export function marginTaken(sub: Sub, market: Market, held: bigint, opened: bigint): bigint {
  if (opened <= 0n) return 0n;
  const { ratio } = settingOf(sub, market.id);
  const [tier] = market.rates.tiers;
  const rate = ratio === null ? tier?.initial : ofPpm(Number(ratio));
  const own = rate === undefined ? 0n : roundedUp(opened, rate);
  const grown = required(market, held + opened, 'initial') - required(market, held, 'initial');
  return max(own, grown);
}

const crossMarkets = (world: World, sub: Sub): Market[] =>
  world.markets.filter((market) => !isIsolated(sub, market.id));
const isolatedMarkets = (world: World, sub: Sub): Market[] =>
  world.markets.filter((market) => isIsolated(sub, market.id));

export const crossEquity = (world: World, sub: Sub): bigint =>
  sub.cash + sum(crossMarkets(world, sub).map((market) => upnlOf(sub, market)));

export const isolatedEquity = (sub: Sub, market: Market): bigint =>
  positionOf(sub, market.id).margin + upnlOf(sub, market);

export const crossNotional = (world: World, sub: Sub): bigint =>
  sum(
    crossMarkets(world, sub).map((market) => valueOf(market, abs(positionOf(sub, market.id).lots))),
  );

/** Of cross positions and open orders, and what orders of isolated markets hold. */
export const crossInitial = (world: World, sub: Sub): bigint =>
  sum(
    world.markets.map((market) =>
      isIsolated(sub, market.id)
        ? holdOf(world, sub, market)
        : requiredOf(sub, market, valueOf(market, worstLots(world, sub, market))),
    ),
  );

export const initialOfPosition = (sub: Sub, market: Market): bigint =>
  requiredOf(sub, market, valueOf(market, abs(positionOf(sub, market.id).lots)));

/** D-10: of positions alone. */
export const maintenanceOf = (sub: Sub, market: Market): bigint =>
  required(market, valueOf(market, abs(positionOf(sub, market.id).lots)), 'maintenance');

export const crossMaintenance = (world: World, sub: Sub): bigint =>
  sum(crossMarkets(world, sub).map((market) => maintenanceOf(sub, market)));

export const freeCross = (world: World, sub: Sub): bigint =>
  crossEquity(world, sub) - crossInitial(world, sub);

/** */
export function withdrawable(world: World, sub: Sub): bigint {
  const held = max(crossInitial(world, sub), shareUp(crossNotional(world, sub), 10n));
  return max(0n, min(sub.cash, crossEquity(world, sub) - held));
}

/** D-28: what leaves isolated equity at the initial requirement, at most the margin. */
export function isolatedExcess(world: World, sub: Sub, market: number): bigint {
  const { lots, margin } = positionOf(sub, market);
  if (lots === 0n || !isIsolated(sub, market)) return 0n;
  const at = marketOf(world, market);
  return max(0n, min(margin, isolatedEquity(sub, at) - initialOfPosition(sub, at)));
}

/** */
export interface Stats {
  readonly crossEquity: bigint;
  readonly accountValue: bigint;
  readonly upnl: bigint;
  readonly crossNotional: bigint;
  readonly crossInitial: bigint;
  readonly initial: bigint;
  readonly maintenance: bigint;
  readonly withdrawable: bigint;
}

export function statsOf(world: World, sub: Sub): Stats {
  const isolated = isolatedMarkets(world, sub);
  const equity = crossEquity(world, sub);
  const initial = crossInitial(world, sub);
  return {
    crossEquity: equity,
    accountValue: equity + sum(isolated.map((market) => isolatedEquity(sub, market))),
    upnl: sum(world.markets.map((market) => upnlOf(sub, market))),
    crossNotional: crossNotional(world, sub),
    crossInitial: initial,
    initial: initial + sum(isolated.map((market) => initialOfPosition(sub, market))),
    maintenance: sum(world.markets.map((market) => maintenanceOf(sub, market))),
    withdrawable: withdrawable(world, sub),
  };
}
