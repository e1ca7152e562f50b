/**
 * Cross margin.
 *
 * Per market the requirement is taken on the worst of (position + all bids) and (position − all asks); reduce-only
 * orders add nothing. Rates are integrals over the market's tiers, so the requirement is continuous at their floors.
 * Requirements round up, equity is exact: prices are whole ticks, so uPnL never rounds.
 *
 * Cost: one pass over the markets a subaccount has touched; nothing scans accounts.
 */
import { divCeil, maxBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import {
  lots,
  PPM,
  ppm,
  quanta,
  type Lots,
  type PriceTicks,
  type Quanta,
} from '../../num/units.ts';
import { NONE } from '../book/order-table.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { MarginTier } from '../config.ts';
import { assert } from '../../base/assert.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { feeOn } from './fees.ts';

const BIG_PPM = BigInt(PPM);

export interface MarginFigures {
  equity: bigint;
  /** Σ |position| × mark. */
  notional: bigint;
  /** Initial requirement with open orders. */
  initial: bigint;
  /** Maintenance requirement of the positions. */
  maintenance: bigint;
  upnl: bigint;
}

/** Requirement of a notional ≥ 0, rounded up: the integral of the tiers' rates. */
export function requirement(
  notionalQuanta: bigint,
  tiers: readonly MarginTier[],
  rate: 'initialMarginPpm' | 'maintenanceMarginPpm',
): bigint {
  let weighted = 0n;
  for (let i = 0; i < tiers.length; i++) {
    const tier = tiers[i];
    if (tier === undefined || notionalQuanta <= tier.floorQuanta) break;
    const next = tiers[i + 1];
    const top =
      next !== undefined && notionalQuanta > next.floorQuanta ? next.floorQuanta : notionalQuanta;
    weighted += (top - tier.floorQuanta) * BigInt(tier[rate]);
  }
  return divCeil(weighted, BIG_PPM);
}

/** Mark of a market in which a user holds something: orders are only accepted once there is one. */
export function mustMark(market: Market): PriceTicks {
  assert(market.markTicks !== null, 'a position or an order needs a mark price');
  return market.markTicks;
}

export function upnlOf(exposure: Exposure, market: Market): bigint {
  if (exposure.positionLots === 0) return 0n;
  const value = notional(exposure.positionLots, mustMark(market), market.spec.quantaPerTickLot);
  return value - exposure.costQuanta;
}

/** The larger absolute position that the resting orders could lead to. */
export function worstLots(positionLots: number, bidLots: number, askLots: number): Lots {
  return lots(Math.max(Math.abs(positionLots + bidLots), Math.abs(positionLots - askLots)));
}

function initialOf(market: Market, worst: Lots): bigint {
  if (worst === 0) return 0n;
  const value = notional(worst, mustMark(market), market.spec.quantaPerTickLot);
  return requirement(value, market.spec.tiers, 'initialMarginPpm');
}

function maintenanceOf(market: Market, position: number): bigint {
  if (position === 0) return 0n;
  const size = lots(Math.abs(position));
  const value = notional(size, mustMark(market), market.spec.quantaPerTickLot);
  return requirement(value, market.spec.tiers, 'maintenanceMarginPpm');
}

export function marginFigures(state: State, subaccount: Subaccount): MarginFigures {
  const figures = { equity: 0n, notional: 0n, initial: 0n, maintenance: 0n, upnl: 0n };
  for (const exposure of subaccount.exposures) {
    if (exposure === undefined) continue;
    const market = state.market(exposure.market);
    figures.upnl += upnlOf(exposure, market);
    figures.initial += initialOf(
      market,
      worstLots(exposure.positionLots, exposure.bidLots, exposure.askLots),
    );
    if (exposure.positionLots === 0) continue;
    const size = lots(Math.abs(exposure.positionLots));
    figures.notional += notional(size, mustMark(market), market.spec.quantaPerTickLot);
    figures.maintenance += maintenanceOf(market, exposure.positionLots);
  }
  figures.equity = subaccount.cash + figures.upnl;
  return figures;
}

/** What may leave the subaccount. */
export function withdrawable(state: State, subaccount: Subaccount): Quanta {
  const figures = marginFigures(state, subaccount);
  const held = maxBig(figures.initial, divCeil(figures.notional, 10n));
  const free = figures.equity - held;
  const available = subaccount.cash < free ? subaccount.cash : free;
  return quanta(maxBig(0n, available));
}

/** Σ over resting orders that are not reduce-only of max(0, side × (limit − mark)) × lots, in Quanta. */
function restingLoss(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
): bigint {
  const mark = mustMark(market);
  if (exposure.highestBid <= mark && exposure.lowestAsk >= mark) return 0n;
  const table = state.orders;
  let loss = 0n;
  for (let slot = subaccount.orders.head; slot !== NONE; slot = table.nextOfOwner(slot)) {
    if (table.market(slot) !== market.id || !table.isResting(slot) || table.isReduceOnly(slot)) {
      continue;
    }
    const distance = table.side(slot) * (table.price(slot) - mark);
    if (distance <= 0) continue;
    loss += notional(lots(table.left(slot)), distance as PriceTicks, market.spec.quantaPerTickLot);
  }
  return loss;
}

/**
 * Whether a new order, not reduce-only, may be accepted: it only reduces the position, or its worst case leaves
 * free collateral ≥ 0. The worst case counts all resting orders and this one as filled at their limits, with the
 * highest fees. An `ioc` order never rests: its price loss and fees are met fill by fill, and only its fee at mark counts.
 */
export function affordsOrder(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
  orderLots: Lots,
  limit: PriceTicks,
  ioc: boolean,
  originatorFeePpm: number,
): boolean {
  const position = exposure.positionLots;
  const size = Math.abs(orderLots);
  if (orderLots < 0 && position > 0 && exposure.askLots + size <= position) return true;
  if (orderLots > 0 && position < 0 && exposure.bidLots + size <= -position) return true;

  let free: bigint = subaccount.cash;
  for (const other of subaccount.exposures) {
    if (other === undefined) continue;
    const otherMarket = other === exposure ? market : state.market(other.market);
    free += upnlOf(other, otherMarket) - other.feeHoldQuanta;
    if (other === exposure) continue;
    free -= initialOf(otherMarket, worstLots(other.positionLots, other.bidLots, other.askLots));
    if (other.openOrders > 0) free -= restingLoss(state, subaccount, other, otherMarket);
  }
  const bids = exposure.bidLots + (orderLots > 0 ? size : 0);
  const asks = exposure.askLots + (orderLots < 0 ? size : 0);
  free -= initialOf(market, worstLots(position, bids, asks));
  if (exposure.openOrders > 0) free -= restingLoss(state, subaccount, exposure, market);

  const spec = market.spec;
  const mark = mustMark(market);
  const feePrice = ioc ? mark : limit;
  const rate = ppm(Math.max(spec.makerFeePpm, spec.takerFeePpm, 0) + originatorFeePpm);
  free -= feeOn(notional(lots(size), feePrice, spec.quantaPerTickLot), rate);
  const distance = Math.sign(orderLots) * (limit - mark);
  if (!ioc && distance > 0) {
    free -= notional(lots(size), distance as PriceTicks, spec.quantaPerTickLot);
  }
  return free >= 0n;
}

/**
 * Whether a fill may happen to this side: after price loss and fees free collateral is ≥ 0, or the fill only
 * reduces the position and leaves equity ≥ 0 and not worse against maintenance than before.
 *
 * `restingLots` is what the fill takes off the side's own resting order (0 for a taker, and for reduce-only makers). A fill at price p
 * changes equity by lots × (mark − p) − fees, however it splits into realised and unrealised.
 */
export function affordsFill(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
  fillLots: Lots,
  price: PriceTicks,
  feesQuanta: bigint,
  restingLots: number,
): boolean {
  const spec = market.spec;
  const mark = mustMark(market);
  let equity: bigint = subaccount.cash;
  let initial = 0n;
  let maintenanceElsewhere = 0n;
  const position = exposure.positionLots;
  const after = position + fillLots;
  const reducing = Math.abs(after) < Math.abs(position) && after * position >= 0;
  for (const other of subaccount.exposures) {
    if (other === undefined) continue;
    const otherMarket = other === exposure ? market : state.market(other.market);
    equity += upnlOf(other, otherMarket);
    if (other === exposure) continue;
    initial += initialOf(otherMarket, worstLots(other.positionLots, other.bidLots, other.askLots));
    if (reducing) maintenanceElsewhere += maintenanceOf(otherMarket, other.positionLots);
  }
  const bids = exposure.bidLots - (fillLots > 0 ? restingLots : 0);
  const asks = exposure.askLots - (fillLots < 0 ? restingLots : 0);
  initial += initialOf(market, worstLots(after, bids, asks));

  const equityAfter =
    equity +
    (notional(fillLots, mark, spec.quantaPerTickLot) -
      notional(fillLots, price, spec.quantaPerTickLot)) -
    feesQuanta;
  if (equityAfter >= initial) return true;
  if (!reducing || equityAfter < 0n) return false;
  const before = maintenanceElsewhere + maintenanceOf(market, position);
  const afterwards = maintenanceElsewhere + maintenanceOf(market, after);
  return equityAfter * before >= equity * afterwards;
}
