/**
 * Isolated positions: their margin, and the money that a fill moves between it and cash.
 *
 * A fill first closes, then releases, then opens. Closing returns the closed share of the margin
 * with its PnL, less fees; a larger loss stays in the margin and never reaches the cash. Opening
 * takes ⌈notional × margin⌉ and its fee from the cash. Rounding favours the position.
 */
import { ceilDivBig, floorDivBig, maxBig } from '../../num/arithmetic.ts';
import {
  feeMoney,
  isPositive,
  larger,
  minus,
  moneyOf,
  NO_MONEY,
  notionalMoney,
  plus,
  ppmCeil,
  quantaOf,
  shareCeil,
  type Money,
} from '../../num/money.ts';
import { notional } from '../../num/notional.ts';
import { lots, PPM, type PriceTicks } from '../../num/units.ts';
import { closedCost, closingLots } from '../accounts/positions.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { IsolatedFill } from '../accounts/filled-side.ts';
import { NO_FEES, totalFee, type Deal, type SideFees } from '../accounts/order-fees.ts';
import {
  admittedUpnl,
  firstInitialPpm,
  flatInitialPpm,
  initialOf,
  initialRequirement,
  maintenanceOf,
  mustMark,
  upnlOf,
} from './requirement.ts';
import { restingOf, restingSums } from './summed-orders.ts';

const BIG_PPM = BigInt(PPM);

/** Margin and uPnL of an isolated position. */
export function isolatedEquity(exposure: Exposure, market: Market): bigint {
  return exposure.marginQuanta + upnlOf(exposure, market);
}

/** Isolated equity for admission: excludes a gain in a frozen market (R-5.3b). */
export function admittedIsolatedEquity(exposure: Exposure, market: Market): bigint {
  return exposure.marginQuanta + admittedUpnl(exposure, market);
}

/** Rate of isolated margin: the account's own, otherwise the market's first tier. */
function ownRate(exposure: Exposure, market: Market): number {
  return Math.max(exposure.ownMarginPpm, firstInitialPpm(market));
}

/** Margin for opening `opened` ≥ 0 Quanta on top of `held` ≥ 0, rounded up. */
export function openingMargin(
  exposure: Exposure,
  market: Market,
  held: bigint,
  opened: bigint,
): bigint {
  if (opened <= 0n) return 0n;
  const { tiers, openNotionalLower } = market.spec;
  const own = ceilDivBig(opened * BigInt(ownRate(exposure, market)), BIG_PPM);
  // With one rate for all notionals, the requirement grows by at most the opened share, rounded up.
  const flat = tiers.length === 1 && openNotionalLower === null && market.nextSpec === null;
  if (flat) return own;
  const grown = initialRequirement(market, held + opened) - initialRequirement(market, held);
  return maxBig(own, grown);
}

/** `received`: money with the fill (ADL). `release`: whether a partial close frees margin. */
export function planIsolated(
  exposure: Exposure,
  market: Market,
  { lots: fillLots, priceTicks: price, fees }: Deal,
  received = 0n,
  release = true,
): IsolatedFill {
  const unit = market.spec.quantaPerTickLot;
  const before = exposure.positionLots;
  const size = Math.abs(before);
  const closed = closingLots(before, fillLots);
  const opened = Math.abs(fillLots) - closed;
  const closingFees = partOf(fees, closed, Math.abs(fillLots));
  const closingFee = quantaOf(totalFee(closingFees));
  let pnl = 0n;
  let returned = 0n;
  if (closed > 0) {
    const proceeds = notional(lots(before > 0 ? closed : -closed), price, unit);
    pnl = proceeds - closedCost(exposure, closed);
    const margin: bigint = exposure.marginQuanta;
    if (closed === size) returned = margin + pnl - closingFee + received;
    else if (release) {
      // Rounded down: the remaining position keeps the indivisible Quantum.
      const share = floorDivBig(margin * BigInt(closed), BigInt(size));
      returned = maxBig(0n, share + pnl - closingFee + received);
    }
  }
  const moved = openingMargin(
    exposure,
    market,
    notional(lots(size - closed), price, unit),
    notional(lots(opened), price, unit),
  );
  const openingFees = {
    protocol: minus(fees.protocol, closingFees.protocol),
    originator: minus(fees.originator, closingFees.originator),
    liquidation: minus(fees.liquidation, closingFees.liquidation),
    others: fees.others,
  };
  return { pnl, closingFees, openingFees, returned, moved };
}

/** The fees of `part` of `whole` lots, rounded up. */
function partOf(fees: SideFees, part: number, whole: number): SideFees {
  if (part === whole) return fees;
  if (part === 0) return NO_FEES;
  const share = (fee: Money): Money => shareCeil(fee, part, whole);
  return {
    protocol: share(fees.protocol),
    originator: share(fees.originator),
    liquidation: share(fees.liquidation),
    others: fees.others,
  };
}

/** A resting order to be added. */
export interface AddedOrder {
  /** 1 for a bid, −1 for an ask. */
  readonly side: 1 | -1;
  readonly lots: number;
  readonly priceTicks: PriceTicks;
  readonly feePpm: number;
}

/** Changes to the present orders and position. */
export interface HoldChange {
  readonly position?: number;
  readonly added?: AddedOrder;
  readonly filling?: FillingOrder | null;
}

const NO_CHANGE: HoldChange = {};

/** A resting order about to be filled in part: only its remainder still reserves cash (D-56). */
export interface FillingOrder {
  readonly slot: number;
  readonly lots: number;
}

/**
 * Cash reserved by resting orders of an isolated market: the margin of the worse side beyond the
 * closing part, each at the higher of limit and mark, plus all fees. Rounded up.
 */
export function isolatedHold(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
  { position = exposure.positionLots, added, filling }: HoldChange = NO_CHANGE,
): bigint {
  if (exposure.openOrders === 0 && added === undefined) return 0n;
  const mark = mustMark(market);
  const unit = market.spec.quantaPerTickLot;
  const valueOf = (size: number, price: PriceTicks): Money =>
    notionalMoney(size, price > mark ? price : mark, unit);
  const sums = restingSums(state, subaccount, exposure, market);
  let buys = sums?.heldValue(1, mark) ?? NO_MONEY;
  let sells = sums?.heldValue(-1, mark) ?? NO_MONEY;
  let fees = sums?.fees ?? NO_MONEY;
  if (filling !== undefined && filling !== null && sums !== null) {
    const order = restingOf(state, filling.slot);
    const filled = valueOf(filling.lots, order.price);
    if (order.side > 0) buys = minus(buys, filled);
    else sells = minus(sells, filled);
    fees = plus(fees, sums.feeChange(order, filling.lots));
  }
  if (added !== undefined) {
    const value = valueOf(added.lots, added.priceTicks);
    if (added.side > 0) buys = plus(buys, value);
    else sells = plus(sells, value);
    fees = plus(fees, feeMoney(added.lots, added.priceTicks, unit, added.feePpm));
  }
  const value = notionalMoney(Math.abs(position), mark, unit);
  // The closing part reserves nothing; the rest opens from zero, in the lowest tier.
  const same = position > 0 ? buys : sells;
  const against = minus(position > 0 ? sells : buys, value);
  const margin = larger(
    openingMoney(exposure, market, value, same),
    openingMoney(exposure, market, NO_MONEY, against),
  );
  return quantaOf(plus(margin, fees));
}

/** `openingMargin` in doubles while the market has one rate for all notionals. */
function openingMoney(exposure: Exposure, market: Market, held: Money, opened: Money): Money {
  if (!isPositive(opened)) return NO_MONEY;
  if (flatInitialPpm(market) !== null) return ppmCeil(opened, ownRate(exposure, market));
  return moneyOf(openingMargin(exposure, market, quantaOf(held), quantaOf(opened)));
}

/**
 * Whether a fill may happen to an isolated position. Free cross collateral must pay
 * for an opening fill, and for the initial requirement that the position then lacks (a fill worse
 * than mark). The position must stay above maintenance. `freeElsewhere` is that of all other
 * markets. A reducing fill must leave isolated equity ≥ 0 and not worse relative to maintenance.
 *
 * In a frozen market, where fills only reduce, an unrealised gain is excluded before and after
 * (R-5.3b).
 */
export function affordsIsolatedFill(
  state: ExchangeState,
  exposure: Exposure,
  deal: Deal,
  filling: FillingOrder | null,
  freeElsewhere: bigint,
): boolean {
  const market = state.market(exposure.market);
  const { lots: fillLots, priceTicks: price } = deal;
  const unit = market.spec.quantaPerTickLot;
  const mark = mustMark(market);
  const before = exposure.positionLots;
  const after = before + fillLots;
  const plan = planIsolated(exposure, market, deal);
  const equity = admittedIsolatedEquity(exposure, market);
  const value = notional(fillLots, mark, unit) - notional(fillLots, price, unit);
  const upnlAfter = upnlOf(exposure, market) + value - plan.pnl;
  const counted = market.frozen && upnlAfter > 0n ? 0n : upnlAfter;
  const marginAfter =
    exposure.marginQuanta +
    plan.pnl -
    quantaOf(totalFee(plan.closingFees)) -
    plan.returned +
    plan.moved;
  const equityAfter = marginAfter + counted;
  if (plan.returned < 0n || equityAfter < 0n) return false;
  const maintenanceAfter = maintenanceOf(market, after);
  const reduces = Math.abs(after) < Math.abs(before) && after * before >= 0;
  if (reduces) {
    if (equityAfter >= initialOf(exposure, market, lots(Math.abs(after)))) return true;
    // Margin is released pro rata, so one Quantum of the requirement's rounding is allowed.
    const allowed = maintenanceAfter > 0n ? maintenanceAfter - 1n : 0n;
    return equityAfter * maintenanceOf(market, before) >= equity * allowed;
  }
  if (equityAfter < maintenanceAfter) return false;
  const lack = maxBig(0n, initialOf(exposure, market, lots(Math.abs(after))) - equityAfter);
  const cash = plan.returned - plan.moved - quantaOf(totalFee(plan.openingFees));
  const subaccount = state.subaccount(exposure.subaccount);
  const hold = isolatedHold(state, subaccount, exposure, market, { position: after, filling });
  return freeElsewhere + cash - hold - lack >= 0n;
}
