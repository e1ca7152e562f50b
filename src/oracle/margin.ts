/** Equity and requirements, recomputed from scratch on every read. */
import type { MarketSpec } from '../engine/config.ts';
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

const MILLION = 1_000_000n;

/** The valuation price in ticks of a position of this many lots. */
export type Pricing = (market: Market, lots: bigint) => bigint;

export const atMark: Pricing = ({ mark }) => mark ?? 0n;
/** the index; the mark if there is no index or the mark is recorded. */
export const atSettlement: Pricing = ({ index, mark, spec }) =>
  (spec.markSource === 'external' ? null : index) ?? mark ?? 0n;
/** the worse of mark and index for the position's owner. */
export const atTakeover: Pricing = (market, lots) =>
  (lots > 0n ? min : max)(atMark(market, lots), atSettlement(market, lots));

/** lots × mark; 0 without a mark. */
export const valueOf = (market: Market, lots: bigint): bigint =>
  lots * (market.mark ?? 0n) * market.unit;

/** lots × price − cost. */
export function upnlOf(sub: Sub, market: Market, pricing: Pricing = atMark): bigint {
  const { lots, cost } = positionOf(sub, market.id);
  return lots === 0n ? 0n : lots * pricing(market, lots) * market.unit - cost;
}

/** the integral of the rate over the tiers, rounded up once. */
function overTiers(
  { tiers }: MarketSpec,
  notional: bigint,
  which: 'initialMarginPpm' | 'maintenanceMarginPpm',
): bigint {
  let exact = 0n;
  tiers.forEach((tier, i) => {
    const top = min(notional, tiers[i + 1]?.floorQuanta ?? notional);
    if (top > tier.floorQuanta) exact += (top - tier.floorQuanta) * BigInt(tier[which]);
  });
  return shareUp(exact, MILLION);
}

/** Maintenance stays at the terms in force while higher rates are announced. */
export const maintenanceAt = (market: Market, notional: bigint): bigint =>
  overTiers(market.spec, notional, 'maintenanceMarginPpm');

/** The larger of current and announced terms, rising with open notional. */
export function initialAt(world: World, market: Market, notional: bigint): bigint {
  const now = overTiers(market.spec, notional, 'initialMarginPpm');
  const waiting = market.nextSpec ?? market.spec;
  const base = max(now, overTiers(waiting, notional, 'initialMarginPpm'));
  const { openNotionalLower: lower, openNotionalUpper: upper } = market.spec;
  if (lower === null || upper === null || upper <= lower) return base;
  const open = valueOf(market, market.interestTried ?? openInterest(world, market));
  if (open >= upper) return max(base, notional);
  if (open <= lower) return base;
  return base + max(0n, shareUp((notional - base) * (open - lower), upper - lower));
}

/** Σ of long lots. */
export const openInterest = (world: World, market: Market): bigint =>
  sum(world.subs.map((sub) => max(0n, positionOf(sub, market.id).lots)));

/** Initial requirement, including the subaccount's own higher rate (D-26). */
export function requiredOf(world: World, sub: Sub, market: Market, notional: bigint): bigint {
  const { ratio } = settingOf(sub, market.id);
  const byMarket = initialAt(world, market, notional);
  return ratio === null ? byMarket : max(byMarket, shareUp(notional * ratio, MILLION));
}

/** Resting orders that can open a position. */
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

/** the worse of position and all bids, and of position and all asks. */
export function worstLots(world: World, sub: Sub, market: Market): bigint {
  const { lots } = positionOf(sub, market.id);
  return max(
    abs(lots + lotsOf(openingOrders(world, sub, market, 1n))),
    abs(lots - lotsOf(openingOrders(world, sub, market, -1n))),
  );
}

/** Max fee of a resting order, which can only be a maker (D-6). */
export function restingFee(market: Market, order: Order): bigint {
  const maker = market.rates.maker.isNegative() ? ofPpm(0) : market.rates.maker;
  return roundedUp(leftOf(order) * order.price * market.unit, maker.plus(order.originatorFee));
}

/**
 * D-27: orders of an isolated market reserve the margin of the worse side's opening lots,
 * each at the higher of limit and mark, plus fees. Lots against the position close it first.
 */
export function holdOf(world: World, sub: Sub, market: Market): bigint {
  const { lots } = positionOf(sub, market.id);
  const holds = [1n, -1n].map((side) => {
    const values = openingOrders(world, sub, market, side).map(
      (order) => leftOf(order) * max(order.price, market.mark ?? 0n) * market.unit,
    );
    const position = valueOf(market, abs(lots));
    return sign(lots) === -side
      ? marginTaken(world, sub, market, 0n, sum(values) - position)
      : marginTaken(world, sub, market, position, sum(values));
  });
  const fees = [1n, -1n].flatMap((side) =>
    openingOrders(world, sub, market, side).map((order) => restingFee(market, order)),
  );
  return max(holds[0] ?? 0n, holds[1] ?? 0n) + sum(fees);
}

/** R-5.6: margin for `opened` on top of `held`: at the own rate, or the tiers' growth if more. */
export function marginTaken(
  world: World,
  sub: Sub,
  market: Market,
  held: bigint,
  opened: bigint,
): bigint {
  if (opened <= 0n) return 0n;
  const { ratio } = settingOf(sub, market.id);
  const own = shareUp(opened * max(ratio ?? 0n, firstInitialPpm(market)), MILLION);
  const grown = initialAt(world, market, held + opened) - initialAt(world, market, held);
  return max(own, grown);
}

/** Min own rate: the first tier's, in force or announced. */
export function firstInitialPpm(market: Market): bigint {
  const first = ({ tiers }: MarketSpec): bigint => BigInt(tiers[0]?.initialMarginPpm ?? 0);
  return max(first(market.spec), first(market.nextSpec ?? market.spec));
}

const crossMarkets = (world: World, sub: Sub): Market[] =>
  world.markets.filter((market) => !isIsolated(sub, market.id));
const isolatedMarkets = (world: World, sub: Sub): Market[] =>
  world.markets.filter((market) => isIsolated(sub, market.id));

/** At marks, including frozen ones: the displayed value. */
export const crossEquity = (world: World, sub: Sub): bigint =>
  sub.cash + sum(crossMarkets(world, sub).map((market) => upnlOf(sub, market)));

export const isolatedEquity = (sub: Sub, market: Market): bigint =>
  positionOf(sub, market.id).margin + upnlOf(sub, market);

/** Value of frozen positions: all of their losses, and gains up to a limit (R-5.3b). */
function frozenWorth(sub: Sub, markets: readonly Market[], maxGain: bigint): bigint {
  const results = markets.map((market) => upnlOf(sub, market));
  const gains = sum(results.map((result) => max(0n, result)));
  const losses = sum(results.map((result) => max(0n, -result)));
  return min(gains, maxGain) - losses;
}

/** Value of positions: fresh ones at their prices, frozen ones by R-5.3b. */
function worthOf(
  sub: Sub,
  markets: readonly Market[],
  frozenGains: 'upToMaintenance' | 'none',
  pricing: Pricing,
): bigint {
  const fresh = markets.filter(({ frozen }) => !frozen);
  const frozen = markets.filter((market) => market.frozen);
  const maxGain =
    frozenGains === 'none' ? 0n : sum(frozen.map((market) => maintenanceOf(sub, market)));
  return (
    sum(fresh.map((market) => upnlOf(sub, market, pricing))) + frozenWorth(sub, frozen, maxGain)
  );
}

/** Equity that liquidation compares with maintenance. */
export const liquidationEquity = (
  world: World,
  sub: Sub,
  isolated: Market | null,
  pricing: Pricing = atMark,
): bigint =>
  isolated === null
    ? sub.cash + worthOf(sub, crossMarkets(world, sub), 'upToMaintenance', pricing)
    : positionOf(sub, isolated.id).margin + worthOf(sub, [isolated], 'upToMaintenance', pricing);

/** Equity for orders, fills and withdrawals: without gains in frozen markets (R-5.3b). */
export const admissionEquity = (
  world: World,
  sub: Sub,
  isolated: Market | null,
  pricing: Pricing = atMark,
): bigint =>
  isolated === null
    ? sub.cash + worthOf(sub, crossMarkets(world, sub), 'none', pricing)
    : positionOf(sub, isolated.id).margin + worthOf(sub, [isolated], 'none', pricing);

const notionalIn = (sub: Sub, markets: readonly Market[]): bigint =>
  sum(markets.map((market) => valueOf(market, abs(positionOf(sub, market.id).lots))));

export const crossNotional = (world: World, sub: Sub): bigint =>
  notionalIn(sub, crossMarkets(world, sub));

/** a part of the notional of frozen cross positions. */
export function frozenHaircut(world: World, sub: Sub): bigint {
  const frozen = crossMarkets(world, sub).filter((market) => market.frozen);
  return shareUp(notionalIn(sub, frozen) * BigInt(world.config.frozenHaircutPpm), MILLION);
}

/** Of cross positions and open orders, plus cash reserved in isolated markets. */
export const crossInitial = (world: World, sub: Sub): bigint =>
  sum(
    world.markets.map((market) =>
      isIsolated(sub, market.id)
        ? holdOf(world, sub, market)
        : requiredOf(world, sub, market, valueOf(market, worstLots(world, sub, market))),
    ),
  );

export const initialOfPosition = (world: World, sub: Sub, market: Market): bigint =>
  requiredOf(world, sub, market, valueOf(market, abs(positionOf(sub, market.id).lots)));

/** D-10: of positions alone. */
export const maintenanceOf = (sub: Sub, market: Market): bigint =>
  maintenanceAt(market, valueOf(market, abs(positionOf(sub, market.id).lots)));

export const crossMaintenance = (world: World, sub: Sub): bigint =>
  sum(crossMarkets(world, sub).map((market) => maintenanceOf(sub, market)));

/** Collateral available for opening. */
export const freeCross = (world: World, sub: Sub): bigint =>
  admissionEquity(world, sub, null) - crossInitial(world, sub) - frozenHaircut(world, sub);

/** 0 with a clearing debt. */
export function withdrawable(world: World, sub: Sub): bigint {
  if (sub.clearingDebt > 0n) return 0n;
  const held = max(crossInitial(world, sub), shareUp(crossNotional(world, sub), 10n));
  const free = admissionEquity(world, sub, null) - held - frozenHaircut(world, sub);
  return max(0n, min(sub.cash, free));
}

/** D-28: the excess of isolated equity over the initial requirement, at most the margin. */
export function isolatedExcess(world: World, sub: Sub, market: number): bigint {
  const { lots, margin } = positionOf(sub, market);
  const at = marketOf(world, market);
  if (lots === 0n || !isIsolated(sub, market) || at.frozen || sub.clearingDebt > 0n) return 0n;
  return max(0n, min(margin, isolatedEquity(sub, at) - initialOfPosition(world, sub, at)));
}

/** Figures of. */
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
    initial: initial + sum(isolated.map((market) => initialOfPosition(world, sub, market))),
    maintenance: sum(world.markets.map((market) => maintenanceOf(sub, market))),
    withdrawable: withdrawable(world, sub),
  };
}
