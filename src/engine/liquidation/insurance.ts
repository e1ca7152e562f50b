/**
 * What insurance may pay: in a UTC hour at most a part of what it held at the hour's start plus deposits since, in all and for each
 * market. It never goes below zero.
 */
import { maxBig, minBig } from '../../num/arithmetic.ts';
import { PPM, quanta, type Quanta } from '../../num/units.ts';
import { credit } from '../accounts/ledger.ts';
import type { LedgerReason } from '../events.ts';
import type { Market } from '../market/market.ts';
import type { State } from '../state.ts';
import { HOUR_US, isPastInsuranceHour, rollInsuranceHour } from './insurance-hour.ts';
import { isSelfPriced } from '../pricing/settlement-price.ts';
import { repayShortfall } from './shortfall.ts';

const BIG_PPM = BigInt(PPM);

/** What insurance may pay now, for deficits of this market; null: for what belongs to no market. */
export function insuranceAllowance(state: State, market: Market | null): bigint {
  const { cash } = state.insurance;
  const isPast = isPastInsuranceHour(state);
  const base = isPast ? cash : state.insuranceBase;
  const left = (ratePpm: number, paid: bigint): bigint =>
    (base * BigInt(ratePpm)) / BIG_PPM - (isPast ? 0n : paid);
  let allowance = minBig(cash, left(state.config.insuranceHourlyPpm, state.insurancePaid));
  if (market !== null) {
    if (isSelfPriced(market)) return 0n;
    allowance = minBig(allowance, left(market.spec.insuranceHourlyPpm, market.insurancePaid));
  }
  return maxBig(0n, allowance);
}

/** A payment of insurance for deficits of a market; null: for what belongs to no market. */
export interface InsurancePart {
  readonly market: Market | null;
  readonly amount: bigint;
}

/** Takes the amounts, each within its allowance, out of insurance and counts them; the caller credits who receives them. */
export function payFromInsurance(
  state: State,
  parts: readonly InsurancePart[],
  reason: LedgerReason = 'insurance',
): void {
  rollInsuranceHour(state);
  let paid = 0n;
  for (const { market, amount } of parts) {
    paid += amount;
    if (market !== null) market.insurancePaid = quanta(market.insurancePaid + amount);
  }
  state.insurancePaid = quanta(state.insurancePaid + paid);
  credit(state, state.insurance, quanta(-paid), reason);
}

/** A deposit to insurance. It first pays the shortfall, outside the limit; only the rest counts in the hour's base. */
export function creditInsuranceDeposit(state: State, amount: Quanta): void {
  credit(state, state.insurance, amount, 'deposit');
  const pays = minBig(amount, -state.shortfall.cash);
  state.insuranceBase = quanta(state.insuranceBase + amount - pays);
  credit(state, state.insurance, quanta(-pays), 'shortfall');
  repayShortfall(state, pays);
}

/** At a UTC hour: insurance pays what it may on the shortfall. */
export function runShortfallTimer(state: State): void {
  if (state.shortfallDueUs > state.nowUs) return;
  state.shortfallDueUs = state.nowUs - (state.nowUs % HOUR_US) + HOUR_US;
  const pays = minBig(-state.shortfall.cash, insuranceAllowance(state, null));
  if (pays > 0n) payFromInsurance(state, [{ market: null, amount: pays }], 'shortfall');
  repayShortfall(state, pays);
}
