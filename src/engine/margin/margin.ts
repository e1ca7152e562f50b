/**
 * Margin: equity and requirements of a subaccount, and admission of
 * orders and fills. margin/isolated-margin.ts has isolated positions; here only their reserved cash
 * counts.
 *
 * Per market the requirement covers the worse of (position + all bids) and (position − all asks);
 * reduce-only orders add nothing.
 *
 * Admission equity is cash and uPnL without the gains of frozen markets, whose price may be stale.
 * An opening order must also leave the haircut on their notional (R-5.3b, R-5.9). Losses there
 * count in full. Free collateral is admission equity less initial requirements and haircut.
 *
 * Cost: one pass over the markets of a subaccount (`margin-sums.ts`); nothing scans its orders or
 * accounts.
 */
import { ceilDivBig, maxBig } from '../../num/arithmetic.ts';
import {
  doubleOfMoney,
  feeMoney,
  isNegative,
  isNothing,
  isPositive,
  minus,
  notionalMoney,
  plus,
  ppmCeil,
  quantaOf,
  type Money,
} from '../../num/money.ts';
import { notional } from '../../num/notional.ts';
import {
  lots,
  PPM,
  ppm,
  quanta,
  type Lots,
  type Ppm,
  type PriceTicks,
  type Quanta,
} from '../../num/units.ts';
import { NONE } from '../book/order-table.ts';
import { marginSums, partOf, takenOf } from './margin-sums.ts';
import { closedCost, closingLots } from '../accounts/positions.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { Deal } from '../accounts/order-fees.ts';
import {
  admittedIsolatedEquity,
  affordsIsolatedFill,
  isolatedEquity,
  isolatedHold,
} from './isolated-margin.ts';
import {
  admittedUpnl,
  frozenNotional,
  haircutOf,
  initialMoney,
  initialOf,
  maintenanceOf,
  mustMark,
  upnlOf,
  worstLots,
} from './requirement.ts';
import {
  crossSlack,
  hasFastAccept,
  isolatedSlack,
  restingBound,
  surelyAffords,
} from './margin-fast-accept.ts';

export interface MarginFigures {
  /** Cash and uPnL of the cross positions, at the marks. */
  equity: bigint;
  /** Equity without the gains of frozen markets (R-5.3b). */
  admissionEquity: bigint;
  /** Haircut on the notional of cross positions in frozen markets, rounded up. */
  haircut: bigint;
  /** Σ |position| × mark of the cross positions. */
  notional: bigint;
  /**
   * Initial requirement of cross positions with open orders, and cash reserved in isolated markets.
   */
  initial: bigint;
  /** Maintenance requirement of the cross positions. */
  maintenance: bigint;
  /** Of all positions. */
  upnl: bigint;
  isolatedEquity: bigint;
  /** Isolated equity without the gains of frozen markets. */
  isolatedAdmissionEquity: bigint;
  isolatedInitial: bigint;
  isolatedMaintenance: bigint;
}

/** Free cross collateral, without positions and orders in the market of `except`. */
export function crossFree(
  state: ExchangeState,
  subaccount: Subaccount,
  except: Exposure | null = null,
): bigint {
  const { upnl, taken, frozen } = marginSums(state, subaccount);
  const own = partOf(except);
  const cash = plus(subaccount.cashMoney, minus(upnl, own.upnl));
  const free = minus(cash, minus(taken, own.taken));
  return quantaOf(minus(free, haircutMoney(state, minus(frozen, own.frozen))));
}

export function marginFigures(state: ExchangeState, subaccount: Subaccount): MarginFigures {
  const figures = {
    equity: subaccount.cash as bigint,
    admissionEquity: subaccount.cash as bigint,
    haircut: 0n,
    notional: 0n,
    initial: 0n,
    maintenance: 0n,
    upnl: 0n,
    isolatedEquity: 0n,
    isolatedAdmissionEquity: 0n,
    isolatedInitial: 0n,
    isolatedMaintenance: 0n,
  };
  let frozen = 0n;
  for (const exposure of subaccount.exposures) {
    if (exposure === undefined) continue;
    const market = state.market(exposure.market);
    // Before there is a mark, only the house has positions.
    if (market.markTicks === null && exposure.positionLots !== 0) continue;
    const upnl = upnlOf(exposure, market);
    figures.upnl += upnl;
    figures.initial += quantaOf(takenOf(state, subaccount, exposure, market));
    if (exposure.positionLots === 0) continue;
    const size = lots(Math.abs(exposure.positionLots));
    const maintenance = maintenanceOf(market, size);
    if (exposure.isolated) {
      figures.isolatedEquity += isolatedEquity(exposure, market);
      figures.isolatedAdmissionEquity += admittedIsolatedEquity(exposure, market);
      figures.isolatedInitial += initialOf(exposure, market, size);
      figures.isolatedMaintenance += maintenance;
      continue;
    }
    figures.equity += upnl;
    figures.admissionEquity += admittedUpnl(exposure, market);
    figures.notional += notional(size, mustMark(market), market.spec.quantaPerTickLot);
    figures.maintenance += maintenance;
    frozen += frozenNotional(exposure, market);
  }
  figures.haircut = haircutOf(frozen, state.config.frozenHaircutPpm);
  return figures;
}

/** Withdrawable amount. 0 while the subaccount has a clearing debt. */
export function withdrawable(state: ExchangeState, subaccount: Subaccount): Quanta {
  if (subaccount.clearingDebt > 0n) return quanta(0n);
  const figures = marginFigures(state, subaccount);
  const held = maxBig(figures.initial, ceilDivBig(figures.notional, 10n));
  const free = figures.admissionEquity - held - figures.haircut;
  const available = subaccount.cash < free ? subaccount.cash : free;
  return quanta(maxBig(0n, available));
}

/** Withdrawable isolated margin; 0 in a frozen market and with a clearing debt. */
export function isolatedExcess(subaccount: Subaccount, exposure: Exposure, market: Market): Quanta {
  if (!exposure.isolated || exposure.positionLots === 0) return quanta(0n);
  if (market.frozen || subaccount.clearingDebt > 0n) return quanta(0n);
  const required = initialOf(exposure, market, lots(Math.abs(exposure.positionLots)));
  const excess = isolatedEquity(exposure, market) - required;
  const available = exposure.marginQuanta < excess ? exposure.marginQuanta : excess;
  return quanta(maxBig(0n, available));
}

/** Terms of an order that margin depends on: its unfilled signed lots at its limit. */
export interface OrderRisk {
  readonly lots: Lots;
  readonly priceTicks: PriceTicks;
  readonly ioc: boolean;
  readonly originatorFeePpm: Ppm;
}

/**
 * Whether a new order, not reduce-only, may be accepted: it only reduces the position, or
 * its worst case leaves free collateral ≥ 0. The worst case fills all resting orders and this one
 * at their limits, with the highest fees. An `ioc` order never rests: its price loss and fees are
 * checked per fill, so only its fee at mark counts.
 */
export function affordsOrder(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
  { lots: orderLots, priceTicks: limit, ioc, originatorFeePpm }: OrderRisk,
): boolean {
  const position = exposure.positionLots;
  const size = Math.abs(orderLots);
  if (orderLots < 0 && position > 0 && exposure.askLots + size <= position) return true;
  if (orderLots > 0 && position < 0 && exposure.bidLots + size <= -position) return true;
  // A clearing debt is repaid before any position opens.
  if (subaccount.clearingDebt > 0n) return false;

  const spec = market.spec;
  const mark = mustMark(market);
  const unit = spec.quantaPerTickLot;
  const bids = exposure.bidLots + (orderLots > 0 ? size : 0);
  const asks = exposure.askLots + (orderLots < 0 ? size : 0);
  const worst = worstLots(position, bids, asks);
  const feePrice = ioc ? mark : limit;
  const rate = ppm(Math.max(spec.makerFeePpm, spec.takerFeePpm, 0) + originatorFeePpm);
  const distance = ioc ? 0 : Math.max(0, Math.sign(orderLots) * (limit - mark));

  if (hasFastAccept(subaccount)) {
    const own = (size * distance + (size * feePrice * rate) / PPM + 1) * unit;
    const costs = restingBound(state, exposure, market) + own;
    const slack = exposure.isolated
      ? isolatedSlack(exposure, market, bids + asks, feePrice, costs)
      : crossSlack(exposure, market, worst, costs, state.config.frozenHaircutPpm);
    if (surelyAffords(state, subaccount, exposure, slack)) return true;
  }

  const { upnl, taken, cost, frozen } = marginSums(state, subaccount);
  const elsewhere = minus(plus(taken, cost), partOf(exposure).taken);
  const before = minus(plus(subaccount.cashMoney, upnl), elsewhere);
  const free = minus(before, haircutMoney(state, frozen));
  if (exposure.isolated) {
    const added = {
      side: orderLots > 0 ? 1 : -1,
      lots: size,
      priceTicks: feePrice,
      feePpm: rate,
    } as const;
    return quantaOf(free) >= isolatedHold(state, subaccount, exposure, market, { added });
  }
  const fee = feeMoney(size, feePrice, unit, rate);
  const loss = notionalMoney(size, distance, unit);
  return !isNegative(minus(free, plus(initialMoney(exposure, market, worst), plus(fee, loss))));
}

/** The haircut on a notional in frozen markets. */
function haircutMoney(state: ExchangeState, frozen: Money): Money {
  return isNothing(frozen) ? frozen : ppmCeil(frozen, state.config.frozenHaircutPpm);
}

/**
 * Whether a fill may happen to this side. Either free collateral after price loss and fees
 * is ≥ 0, or the fill only reduces and leaves admission equity ≥ 0 and not worse relative to
 * maintenance. With a frozen position elsewhere, such a fill may lose at most half of the
 * maintenance it releases, against the mark.
 *
 * `restingSlot` is the side's own resting order, which the fill shrinks (NONE for a taker, and for
 * reduce-only makers). A fill at price p changes equity by lots × (mark − p) − fees, realised or
 * not. In a frozen market the split matters: a gain counts once it is realised.
 */
export function affordsFill(
  state: ExchangeState,
  exposure: Exposure,
  market: Market,
  deal: Deal,
  restingSlot: number,
): boolean {
  const subaccount = state.subaccount(exposure.subaccount);
  const { lots: fillLots, priceTicks: price, fees } = deal;
  const unit = market.spec.quantaPerTickLot;
  const mark = mustMark(market);
  const position = exposure.positionLots;
  const after = position + fillLots;
  const reducing = Math.abs(after) < Math.abs(position) && after * position >= 0;
  if (!reducing && subaccount.clearingDebt > 0n) return false;
  // Money for the debt goes to no other account: no loss against the mark, no originator fee.
  const gives = fillLots * (price - mark) > 0 || isPositive(fees.originator);
  if (gives && market.frozen && subaccount.clearingDebt > 0n && !exposure.isolated) return false;
  const restingLots = restingSlot === NONE ? 0 : Math.abs(fillLots);
  const bids = exposure.bidLots - (fillLots > 0 ? restingLots : 0);
  const asks = exposure.askLots - (fillLots < 0 ? restingLots : 0);
  const worst = worstLots(after, bids, asks);
  const loss = fillLots * (price - mark) * unit;
  const paid = doubleOfMoney(fees.protocol) + doubleOfMoney(fees.originator);
  if (!exposure.isolated) {
    if (hasFastAccept(subaccount)) {
      const costs = Math.abs(loss) + Math.abs(paid);
      const slack = crossSlack(exposure, market, worst, costs, state.config.frozenHaircutPpm);
      if (surelyAffords(state, subaccount, exposure, slack)) return true;
    }
  } else {
    const filling = restingSlot === NONE ? null : { slot: restingSlot, lots: restingLots };
    return affordsIsolatedFill(
      state,
      exposure,
      deal,
      filling,
      crossFree(state, subaccount, exposure),
    );
  }
  const sums = marginSums(state, subaccount);
  const own = partOf(exposure);
  const taken = quantaOf(minus(sums.taken, own.taken));
  const initial = initialOf(exposure, market, worst) + taken;
  const frozenElsewhere: bigint = quantaOf(minus(sums.frozen, own.frozen));
  const frozenHere = market.frozen ? notional(lots(Math.abs(after)), mark, unit) : 0n;
  const haircut = haircutOf(frozenElsewhere + frozenHere, state.config.frozenHaircutPpm);
  const elsewhere = subaccount.cash + quantaOf(minus(sums.upnl, own.upnl));
  const value = notional(fillLots, mark, unit) - notional(fillLots, price, unit);
  const counted = countedAfter(exposure, market, fillLots, price, value);
  const equityAfter = elsewhere + counted - quantaOf(plus(fees.protocol, fees.originator));
  if (equityAfter >= initial + haircut) return true;
  if (!reducing || equityAfter < 0n) return false;
  const released = maintenanceOf(market, position) - maintenanceOf(market, after);
  // Prevents a deliberate loss of money that the other side of a frozen market may have won.
  if (frozenElsewhere > 0n && -value * 2n > released) return false;
  const before: bigint = quantaOf(sums.maintenance);
  const afterwards = before - released;
  return equityAfter * before >= (subaccount.cash + quantaOf(sums.upnl)) * afterwards;
}

/** Counted PnL, realised and not, after a fill whose price differs from the mark by `value`. */
function countedAfter(
  exposure: Exposure,
  market: Market,
  fillLots: Lots,
  price: PriceTicks,
  value: bigint,
): bigint {
  const total = upnlOf(exposure, market) + value;
  if (!market.frozen) return total;
  const closed = closingLots(exposure.positionLots, fillLots);
  if (closed === 0) return total > 0n ? 0n : total;
  const unit = market.spec.quantaPerTickLot;
  const proceeds = notional(lots(exposure.positionLots > 0 ? closed : -closed), price, unit);
  const realized = proceeds - closedCost(exposure, closed);
  const open = total - realized;
  return realized + (open > 0n ? 0n : open);
}
