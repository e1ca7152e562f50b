/** The only function that changes isolated margin; the counterpart of `credit`. */
import { quanta, type Quanta } from '../../num/units.ts';
import type { LedgerReason } from '../events.ts';
import { hashIsolatedMarginChanged } from '../chain-hash/hash-event.ts';
import type { State } from '../state.ts';
import { credit } from './ledger.ts';
import type { Exposure, Subaccount } from './subaccount.ts';

/** Adds a signed amount to the margin of an isolated position; an amount of 0 leaves no entry. */
export function creditMargin(
  state: State,
  exposure: Exposure,
  delta: bigint,
  reason: LedgerReason,
): void {
  if (delta === 0n) return;
  exposure.marginQuanta = quanta(exposure.marginQuanta + delta);
  exposure.updatedAtUs = state.nowUs;
  const subaccount = state.subaccount(exposure.subaccount);
  if (subaccount.waitsForThaw) state.markForRiskCheck(subaccount);
  const { context } = state;
  context.emit(hashIsolatedMarginChanged, {
    kind: 'isolatedMarginChanged',
    seq: state.seq,
    index: context.nextIndex(),
    timeUs: state.nowUs,
    cause: context.cause,
    subaccount: exposure.subaccount,
    market: exposure.market,
    reason,
    deltaQuanta: quanta(delta),
    marginQuanta: exposure.marginQuanta,
  });
}

/** Moves money from the subaccount's cash into the position's margin, or back if negative. */
export function moveToMargin(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  amount: Quanta,
): void {
  credit(state, subaccount, quanta(-amount), 'isolatedMargin');
  creditMargin(state, exposure, amount, 'isolatedMargin');
}
