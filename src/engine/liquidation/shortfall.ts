/** The shortfall: a system account with the uncovered deficits as its balance ≤ 0. */
import { quanta, timeUs } from '../../num/units.ts';
import { credit } from '../accounts/ledger.ts';
import type { LedgerReason } from '../events.ts';
import type { State } from '../state.ts';
import { HOUR_US } from './insurance-hour.ts';

/** Charges an amount ≥ 0; the caller credits the receiver. From 0, starts a new epoch. */
export function chargeShortfall(state: State, amount: bigint): void {
  if (amount === 0n) return;
  if (state.shortfall.cash === 0n) {
    state.shortfallEpoch += 1;
    state.shortfallSinceUs = timeUs(state.nowUs);
    state.shortfallDueUs = state.nowUs - (state.nowUs % HOUR_US) + HOUR_US;
  }
  credit(state, state.shortfall, quanta(-amount), 'shortfall');
}

/** Repays an amount from 0 to the size of the shortfall; the caller debits the payer. */
export function repayShortfall(
  state: State,
  amount: bigint,
  reason: LedgerReason = 'shortfall',
): void {
  credit(state, state.shortfall, quanta(amount), reason);
  if (state.shortfall.cash === 0n) state.shortfallDueUs = Infinity;
}
