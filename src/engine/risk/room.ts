/**
 * Bounds of free collateral in doubles, for saying yes to the many who are far from any limit: what a market leaves at least
 * of a subaccount's cash, its requirements taken too high. Nothing here says no: without room the exact rule decides.
 *
 * Every figure is below 2^52, so each rounding is below a Quantum, and a yes leaves a million Quanta to spare. A figure that is larger leaves no
 * room at all.
 */
import { PPM } from '../../num/units.ts';
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { mustMark, worstLots } from './requirement.ts';

/** Quanta to spare before a bound may say yes: far more than its rounding can amount to. */
const SPARE = 1_000_000;
/** Doubles up to here keep every rounding below a Quantum. */
const BOUNDED = 2 ** 52;

/**
 * Whether cash with what `here` and all other markets leave of it is above every requirement. `here` is the room of this market,
 * with what is about to change in it.
 */
export function hasRoom(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  here: number,
): boolean {
  const cash = subaccount.cashAbout;
  if (!(Math.abs(cash) < BOUNDED)) return false;
  if (subaccount.exposureCount === 1) return cash + here > SPARE;
  let room = cash + here;
  for (const other of subaccount.exposures) {
    if (other === undefined || other === exposure) continue;
    if (other.positionLots === 0 && other.openOrders === 0) continue;
    const market = state.market(other.market);
    const orders = restingBound(state, other, market);
    room += other.isolated
      ? roomOfIsolated(other, market, other.bidLots + other.askLots, 0, orders)
      : roomOfCross(
          other,
          market,
          worstLots(other.positionLots, other.bidLots, other.askLots),
          orders,
        );
  }
  return room > SPARE;
}

/** uPnL less the requirement of a worst size and less `costs`, in Quanta. */
export function roomOfCross(
  exposure: Exposure,
  market: Market,
  worst: number,
  costs: number,
): number {
  const unit = mustMark(market) * market.spec.quantaPerTickLot;
  const cost = exposure.costAbout;
  const value = exposure.positionLots * unit;
  const needs = (worst * unit * highestRate(exposure, market)) / PPM + costs;
  return bounded(value - cost - needs, Math.abs(value) + Math.abs(cost) + needs);
}

/** What orders of so many lots hold of the cash, none of them dearer than `priceTicks` and those that rest, and `costs`; negative. */
export function roomOfIsolated(
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

/** Every resting order costs at most this when it is filled: its lots at the furthest prices, with the highest rates; in Quanta. */
export function restingBound(state: State, exposure: Exposure, market: Market): number {
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

const highestRate = (exposure: Exposure, market: Market): number =>
  Math.max(market.highestInitialPpm, exposure.ownMarginPpm);

const bounded = (room: number, figures: number): number => (figures < BOUNDED ? room : -Infinity);
