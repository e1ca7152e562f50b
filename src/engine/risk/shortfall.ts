/**
 * The shortfall: what neither insurance nor counterparties could pay for deficits. It is an account of the exchange whose balance
 * is never above zero; insurance pays on it each UTC hour.
 */
import { minBig } from '../../num/arithmetic.ts';
import { quanta, timeUs } from '../../num/units.ts';
import { credit } from '../accounts/ledger.ts';
import type { LedgerReason } from '../events.ts';
import type { State } from '../state.ts';
import { HOUR_US } from './insurance-hour.ts';
import { insuranceAllowance, payFromInsurance } from './insurance.ts';

/** Charges an amount ≥ 0 to the shortfall; the caller credits who receives it. One that begins now is a new epoch. */
export function chargeShortfall(state: State, amount: bigint): void {
  if (amount === 0n) return;
  if (state.shortfall.cash === 0n) {
    state.shortfallEpoch += 1;
    state.shortfallSinceUs = timeUs(state.nowUs);
    state.shortfallDueUs = state.nowUs - (state.nowUs % HOUR_US) + HOUR_US;
  }
  credit(state, state.shortfall, quanta(-amount), 'shortfall');
}

/** Pays an amount, at least 0 and at most what is missing, to the shortfall; the caller debits who pays. */
export function repayShortfall(
  state: State,
  amount: bigint,
  reason: LedgerReason = 'shortfall',
): void {
  credit(state, state.shortfall, quanta(amount), reason);
  if (state.shortfall.cash === 0n) state.shortfallDueUs = Infinity;
}

/** At a UTC hour: insurance pays what it may. */
export function runShortfallTimer(state: State): void {
  if (state.shortfallDueUs > state.nowUs) return;
  state.shortfallDueUs = state.nowUs - (state.nowUs % HOUR_US) + HOUR_US;
  const pays = minBig(-state.shortfall.cash, insuranceAllowance(state, null));
  if (pays > 0n) payFromInsurance(state, [{ market: null, amount: pays }], 'shortfall');
  repayShortfall(state, pays);
}
