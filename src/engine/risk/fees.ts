/**
 * Fees. What a user pays rounds up, a rebate rounds down; of the net protocol fee of a fill a share
 * goes to the vault and to insurance, rounded down, and the rest to the treasury.
 */
import { absBig } from '../../num/arithmetic.ts';
import { ppmOfCeil, ppmOfFloor } from '../../num/notional.ts';
import { ppm, quanta, type Ppm, type Quanta } from '../../num/units.ts';
import { credit } from '../accounts/ledger.ts';
import type { State } from '../state.ts';

/** Fee on a signed notional: positive is paid, negative is a rebate received. */
export function feeOn(notionalQuanta: Quanta, rate: Ppm): Quanta {
  const size = quanta(absBig(notionalQuanta));
  return rate >= 0 ? ppmOfCeil(size, rate) : quanta(-ppmOfFloor(size, ppm(-rate)));
}

/** Hands out the net protocol fee of one fill; 0 pays no one. */
export function distributeFee(state: State, netQuanta: Quanta): void {
  if (netQuanta === 0n) return;
  const toVault = ppmOfFloor(netQuanta, state.config.vaultFeeSharePpm);
  const toInsurance = ppmOfFloor(netQuanta, state.config.insuranceFeeSharePpm);
  credit(state, state.vault, toVault, 'feeShare');
  credit(state, state.insurance, toInsurance, 'feeShare');
  credit(state, state.treasury, quanta(netQuanta - toVault - toInsurance), 'feeShare');
}
