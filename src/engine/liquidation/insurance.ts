/** Hourly payment limits of insurance, in total and per market. It is never overdrawn. */
import { maxBig, minBig } from '../../num/arithmetic.ts';
import { PPM, quanta, type Quanta } from '../../num/units.ts';
import { credit } from '../accounts/ledger.ts';
import type { LedgerReason } from '../events.ts';
import type { Market } from '../market/market.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { State } from '../state.ts';
import { HOUR_US, isPastInsuranceHour, rollInsuranceHour } from './insurance-hour.ts';
import { isSelfPriced } from '../pricing/settlement-price.ts';
import { repayShortfall } from './shortfall.ts';

const BIG_PPM = BigInt(PPM);

/** Remaining allowance for deficits of this market; null: for debts of no market. */
export function insuranceAllowance(state: ExchangeState, market: Market | null): bigint {
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

/** An insurance payment for deficits of a market; null: for debts of no market. */
export interface InsurancePart {
  readonly market: Market | null;
  readonly amount: bigint;
}

/**
 * Debits the amounts, each within its allowance, and counts them; the caller credits the receivers.
 */
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

/** A deposit to insurance repays the shortfall first; the rest enters the hour's base. */
export function creditInsuranceDeposit(state: State, amount: Quanta): void {
  credit(state, state.insurance, amount, 'deposit');
  const pays = minBig(amount, -state.shortfall.cash);
  state.insuranceBase = quanta(state.insuranceBase + amount - pays);
  credit(state, state.insurance, quanta(-pays), 'shortfall');
  repayShortfall(state, pays);
}

/** At each UTC hour insurance repays the shortfall within its limit. */
export function runShortfallTimer(state: State): void {
  if (state.shortfallDueUs > state.nowUs) return;
  state.shortfallDueUs = state.nowUs - (state.nowUs % HOUR_US) + HOUR_US;
  const pays = minBig(-state.shortfall.cash, insuranceAllowance(state, null));
  if (pays > 0n) payFromInsurance(state, [{ market: null, amount: pays }], 'shortfall');
  repayShortfall(state, pays);
}
