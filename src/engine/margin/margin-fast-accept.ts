/**
 * Fast accept path of the margin check (R-5.5): conservative floating-point bounds of free
 * collateral. It never refuses: if the bound does not suffice, the exact rule decides.
 *
 * Correctness: the exact rule accepts if cash + Σ (counted uPnL − requirement − haircut − costs) ≥
 * 0. Each term here is at most the exact one plus 3 Quanta, market by market:
 * - Counted uPnL: value − cost in a fresh market, min(0, value − cost) in a frozen one (R-5.3b).
 *   After a reducing fill there, the exact rule counts realised PnL and min(0, uPnL) of the rest.
 *   If the rest has a loss, both sum to the uPnL before, moved by price − mark, which `costs`
 *   includes. If it has a gain, so had the whole, the realised part is ≥ −1 Quantum apart from that
 *   move, and min(0, uPnL) before is 0.
 * - Haircut (R-5.9): the rate on the notional before the fill, which is the larger: fills there
 *   only reduce. The exact rule rounds the sum up once, by less than a Quantum.
 * - Requirement: a notional v at the highest initial rate h of any tier, in force or announced
 *   (R-13.1), is at least the tiers' integral R less a Quantum of rounding. With the rise f
 *   (R-13.4) the exact R + ⌈(v − R)f⌉ grows with R, so it is at most v(h + (1 − h)f) + 2.
 *   `highestRate` rounds h + (1 − h)f up to 1e-6 and includes the own rate.
 * - Reserved by orders of isolated markets: the same rate on at least their opening notional.
 *
 * Every figure is below 2^52, so each rounding is below a Quantum. An accept needs a margin of a
 * million Quanta, more than 65,536 markets can use up. A larger figure never accepts.
 */
import { ceilDivBig } from '../../num/arithmetic.ts';
import { PPM, type Ppm } from '../../num/units.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { mustMark, rateRiseOf, worstLots } from './requirement.ts';

/** Safety margin of an accept, in Quanta; far above the total rounding error. */
const SPARE = 1_000_000;
/** Doubles up to this bound round by less than a Quantum. */
const BOUNDED = 2 ** 52;

/**
 * Whether the bounds are worth computing: with several markets and sums of orders, the exact rule
 * costs no more than they do.
 */
export function hasFastAccept({ sumsOrders, exposureCount }: Subaccount): boolean {
  return !sumsOrders || exposureCount === 1;
}

/** Whether cash plus all slack exceeds the safety margin. `here`: slack of this market. */
export function surelyAffords(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure,
  here: number,
): boolean {
  const cash = subaccount.cashAbout;
  if (!(Math.abs(cash) < BOUNDED)) return false;
  if (subaccount.exposureCount === 1) return cash + here > SPARE;
  let slack = cash + here;
  for (const other of subaccount.opened) {
    if (other === exposure) continue;
    if (other.positionLots === 0 && other.openOrders === 0) continue;
    const market = state.market(other.market);
    const orders = restingBound(state, other, market);
    slack += other.isolated
      ? isolatedSlack(other, market, other.bidLots + other.askLots, 0, orders)
      : crossSlack(
          other,
          market,
          worstLots(other.positionLots, other.bidLots, other.askLots),
          orders,
          state.config.frozenHaircutPpm,
        );
  }
  return slack > SPARE;
}

/** Counted uPnL less requirement, less haircut if frozen, less `costs`, in Quanta. */
export function crossSlack(
  exposure: Exposure,
  market: Market,
  worst: number,
  costs: number,
  haircutPpm: Ppm,
): number {
  const unit = mustMark(market) * market.spec.quantaPerTickLot;
  const cost = exposure.costAbout;
  const value = exposure.positionLots * unit;
  let upnl = value - cost;
  let needs = (worst * unit * highestRate(exposure, market)) / PPM + costs;
  if (market.frozen) {
    upnl = Math.min(0, upnl);
    needs += (Math.abs(value) * haircutPpm) / PPM;
  }
  return bounded(upnl - needs, Math.abs(value) + Math.abs(cost) + needs);
}

/** Cash reserved by `size` lots at the highest of `priceTicks` and resting prices; negated. */
export function isolatedSlack(
  exposure: Exposure,
  market: Market,
  orderLots: number,
  priceTicks: number,
  costs: number,
): number {
  const dearest = Math.max(mustMark(market), exposure.highestPrice, priceTicks);
  const value = orderLots * dearest * market.spec.quantaPerTickLot;
  const needs = (value * highestRate(exposure, market)) / PPM + costs;
  return bounded(0 - needs, needs);
}

/** Upper bound of the cost of filling all resting orders, at the worst prices and rates. */
export function restingBound(state: ExchangeState, exposure: Exposure, market: Market): number {
  const { bidLots, askLots, openOrders } = exposure;
  if (openOrders === 0) return 0;
  const mark = mustMark(market);
  const { maxOriginatorFeePpm, maxDelegateOriginatorFeePpm } = state.config;
  const originatorPpm = Math.max(maxOriginatorFeePpm, maxDelegateOriginatorFeePpm);
  const feePpm = Math.max(market.spec.makerFeePpm, 0) + originatorPpm;
  const loss =
    Math.max(0, exposure.highestBid - mark) * bidLots +
    (askLots === 0 ? 0 : Math.max(0, mark - exposure.lowestAsk) * askLots);
  const fees = ((bidLots + askLots) * exposure.highestPrice * feePpm) / PPM;
  return (loss + fees + openOrders) * market.spec.quantaPerTickLot;
}

/** Upper bound of the initial rate at any size, risen with open notional and rounded up. */
function highestRate(exposure: Exposure, market: Market): number {
  let rate = market.highestInitialPpm;
  if (market.spec.openNotionalLower !== null) {
    const { top, bottom } = rateRiseOf(market);
    rate += Number(ceilDivBig(BigInt(PPM - rate) * top, bottom));
  }
  return Math.max(rate, exposure.ownMarginPpm);
}

const bounded = (slack: number, figures: number): number => (figures < BOUNDED ? slack : -Infinity);
