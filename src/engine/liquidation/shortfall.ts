/**
 * The shortfall: what neither insurance nor counterparties could pay for deficits. It is an account of the exchange whose balance
 * is never above zero; insurance pays on it each UTC hour.
 */
import { quanta, timeUs } from '../../num/units.ts';
import { credit } from '../accounts/ledger.ts';
import type { LedgerReason } from '../events.ts';
import type { State } from '../state.ts';
import { HOUR_US } from './insurance-hour.ts';

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
