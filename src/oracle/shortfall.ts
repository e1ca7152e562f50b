/** The shortfall and its payers, and the payment limits of insurance. */
import type { LedgerReason } from '../engine/events.ts';
import { upnlOf } from './margin.ts';
import { abs, max, min, shareDown, shareUp, sum } from './numbers.ts';
import {
  book,
  HOUR,
  INSURANCE,
  rollInsuranceHour,
  SHORTFALL,
  subOf,
  TREASURY,
  type Market,
  type Sub,
  type World,
} from './world.ts';

const MILLION = 1_000_000n;

/** Size of the shortfall, ≥ 0. */
export const missing = (world: World): bigint => -subOf(world, SHORTFALL).cash;

/** A market whose users alone make its prices: insurance and vault do not act in it. */
export const isSelfPriced = ({ spec }: Market): boolean =>
  !spec.recordedLiquidity &&
  (spec.markSource === 'last' || spec.markSource === 'mid' || spec.indexSource === 'mid');

/** remaining insurance payments in this hour, for a deficit of one market or of none. */
export function allowance(world: World, market: Market | null): bigint {
  rollInsuranceHour(world);
  const { insuranceBase, insurancePaid, config } = world;
  const part = (ppm: number): bigint => shareDown(insuranceBase * BigInt(ppm), MILLION);
  const all = part(config.insuranceHourlyPpm) - insurancePaid;
  const limit = max(0n, min(subOf(world, INSURANCE).cash, all));
  if (market === null) return limit;
  if (isSelfPriced(market)) return 0n;
  return max(0n, min(limit, part(market.spec.insuranceHourlyPpm) - market.insurancePaid));
}

/** Counts an insurance payment against the hour. */
export function countPaid(world: World, market: Market | null, amount: bigint): void {
  world.insurancePaid += amount;
  if (market !== null) market.insurancePaid += amount;
}

/** Changes the shortfall's balance. A new shortfall has a new number and is repaid hourly. */
export function bookShortfall(
  world: World,
  delta: bigint,
  reason: LedgerReason = 'shortfall',
): void {
  const before = missing(world);
  book(world, subOf(world, SHORTFALL), delta, reason);
  if (before > 0n || missing(world) === 0n) return;
  world.shortfallEpoch += 1n;
  world.payDownDue = world.now - (world.now % HOUR) + HOUR;
}

export function moveToShortfall(world: World, from: Sub, amount: bigint): void {
  book(world, from, -amount, 'shortfall');
  bookShortfall(world, amount);
}

/** A deposit to insurance pays the shortfall first; the rest enters the hour's base. */
export function payShortfallAtOnce(world: World, deposited: bigint): void {
  const paid = min(missing(world), deposited);
  world.insuranceBase += deposited - paid;
  moveToShortfall(world, subOf(world, INSURANCE), paid);
}

/** Time of insurance's next payment to the shortfall; null without one. */
export const nextPayDown = (world: World): bigint | null =>
  missing(world) > 0n ? world.payDownDue : null;

/** At a UTC hour: pays within the limit of the new hour. */
export function payShortfall(world: World): void {
  const due = nextPayDown(world);
  if (due === null || due > world.now) return;
  const paid = min(missing(world), allowance(world, null));
  countPaid(world, null, paid);
  moveToShortfall(world, subOf(world, INSURANCE), paid);
  world.payDownDue = world.now - (world.now % HOUR) + HOUR;
}

const exemptOf = (world: World, sub: Sub): bigint =>
  sub.exemptEpoch === world.shortfallEpoch ? sub.exempt : 0n;

/** Exempts external money that arrives after the shortfall began. */
export function exempt(world: World, sub: Sub, amount: bigint): void {
  if (missing(world) === 0n) return;
  sub.exempt = exemptOf(world, sub) + amount;
  sub.exemptEpoch = world.shortfallEpoch;
}

const equityAtMarks = (world: World, sub: Sub): bigint =>
  sub.cash + sum(world.markets.map((market) => upnlOf(sub, market)));

/** The exempt part of a withdrawal, and the shortfall's share of the rest. */
export function leavesToShortfall(
  world: World,
  from: Sub,
  amount: bigint,
): { readonly free: bigint; readonly left: bigint } {
  const free = min(amount, exemptOf(world, from));
  const lacks = missing(world);
  if (lacks === 0n) return { free, left: 0n };
  const rest = amount - free;
  const houses = sum(
    world.subs.filter(({ house }) => house).map((sub) => equityAtMarks(world, sub)),
  );
  const claims =
    world.supply +
    abs(lacks) -
    subOf(world, INSURANCE).cash -
    subOf(world, TREASURY).cash -
    houses -
    sum(world.subs.map((sub) => exemptOf(world, sub)));
  const share = claims <= 0n ? rest : shareUp(rest * lacks, claims);
  return { free, left: min(lacks, min(rest, share)) };
}
