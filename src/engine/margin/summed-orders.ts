/**
 * The orders of a subaccount that its sums cover (`resting-sums.ts`): when sums start and change.
 */
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import { NONE } from '../book/order-table.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { Market } from '../market/market.ts';
import { RestingSums, type Resting } from './resting-sums.ts';

/** Number of orders of a subaccount from which its sums are kept before they are needed. */
const MANY = 4096;

function makerPpmOf(market: Market): number {
  return Math.max(market.spec.makerFeePpm, 0);
}

function sumsOf(state: ExchangeState, market: Market): RestingSums {
  const { quantaPerTickLot } = market.spec;
  return new RestingSums(state.restingPrices, quantaPerTickLot, makerPpmOf(market));
}

/** The sums of an exposure at the market's present rates; null while it has no such orders. */
export function restingSums(
  state: ExchangeState,
  subaccount: Subaccount,
  exposure: Exposure,
  market: Market,
): RestingSums | null {
  if (!subaccount.sumsOrders) startSums(state, subaccount);
  const sums = exposure.resting;
  if (sums === null) return null;
  if (sums.makerPpm !== makerPpmOf(market)) takeRate(state, subaccount, sums, market);
  return sums;
}

/** The slot has joined the book. */
export function noteRested(state: ExchangeState, slot: number, exposure: Exposure): void {
  const subaccount = state.subaccount(exposure.subaccount);
  if (subaccount.sumsOrders) {
    exposure.resting ??= sumsOf(state, state.market(exposure.market));
    noteChange(state, slot, exposure.resting, 0, state.orders.left(slot));
  } else if (subaccount.orderCount >= MANY) startSums(state, subaccount);
}

/** The slot, which is on the book, is about to lose `by` of its unfilled lots. */
export function noteReduced(
  state: ExchangeState,
  slot: number,
  sums: RestingSums,
  by: number,
): void {
  const left = state.orders.left(slot);
  noteChange(state, slot, sums, left, left - by);
}

function noteChange(
  { orders: table }: ExchangeState,
  slot: number,
  sums: RestingSums,
  before: number,
  after: number,
): void {
  sums.note(table.side(slot), table.price(slot), before, after, table.originatorFeePpm(slot));
}

/** Terms of the order in this slot. */
export function restingOf({ orders: table }: ExchangeState, slot: number): Resting {
  return {
    side: table.side(slot),
    price: table.price(slot),
    left: table.left(slot),
    originatorFeePpm: table.originatorFeePpm(slot),
  };
}

/** Sums all resting orders of the subaccount; from now on each change updates the sums. */
function startSums(state: ExchangeState, subaccount: Subaccount): void {
  subaccount.sumsOrders = true;
  for (const exposure of subaccount.opened) {
    eachSummed(state, exposure, (slot) => {
      exposure.resting ??= sumsOf(state, state.market(exposure.market));
      noteChange(state, slot, exposure.resting, 0, state.orders.left(slot));
    });
  }
}

/** Fees at a new maker rate, after a change of the market's terms. */
function takeRate(
  state: ExchangeState,
  subaccount: Subaccount,
  sums: RestingSums,
  market: Market,
): void {
  const orders: Resting[] = [];
  eachSummed(state, subaccount.exposure(market.id), (slot) => orders.push(restingOf(state, slot)));
  sums.takeRate(makerPpmOf(market), orders);
}

/** Visits the resting orders of one market that are not reduce-only. */
export function eachSummed(
  { orders: table }: ExchangeState,
  { orders }: Exposure,
  visit: (slot: number) => void,
): void {
  for (let slot = orders.head; slot !== NONE; slot = table.nextOfOwner(slot)) {
    if (table.isResting(slot) && !table.isReduceOnly(slot)) visit(slot);
  }
}
