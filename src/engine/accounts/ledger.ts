/** The only function that changes cash. A subaccount's entries sum to its balance. */
import { must } from '../../base/assert.ts';
import { isNothing, moneyOf, plus, quantaOf, type Money } from '../../num/money.ts';
import type { Quanta } from '../../num/units.ts';
import type { LedgerReason } from '../events.ts';
import { rollInsuranceHour } from '../liquidation/insurance-hour.ts';
import type { State } from '../state.ts';
import type { Subaccount } from './subaccount.ts';
import { hashBalanceChanged } from '../chain-hash/hash-event.ts';
import { LEDGER_CODES, LEDGER_REASONS } from '../schema/event-schema.ts';

/** Adds a signed amount to the subaccount's cash; an amount of 0 leaves no entry. */
export function credit(
  state: State,
  subaccount: Subaccount,
  delta: Quanta,
  reason: LedgerReason,
): void {
  creditMoney(state, subaccount, moneyOf(delta), LEDGER_CODES[reason]);
}

/** As `credit`, for amounts of hot paths; the reason by its code, which needs no search there. */
export function creditMoney(
  state: State,
  subaccount: Subaccount,
  delta: Money,
  code: number,
): void {
  if (isNothing(delta)) return;
  if (subaccount === state.insurance) rollInsuranceHour(state);
  const balance = plus(subaccount.cashMoney, delta);
  subaccount.cashMoney = balance;
  subaccount.updatedAtUs = state.nowUs;
  if (subaccount.waitsForThaw) state.markForRiskCheck(subaccount);
  const { context } = state;
  hashBalanceChanged(context.hashing(), context.causeInHash, subaccount.id, code, delta, balance);
  if (context.hasSink) {
    context.deliver({
      kind: 'balanceChanged',
      seq: state.seq,
      index: context.nextIndex(),
      timeUs: state.nowUs,
      cause: context.cause,
      subaccount: subaccount.id,
      reason: must(LEDGER_REASONS[code], 'a reason has a code'),
      deltaQuanta: quantaOf(delta),
      balanceQuanta: quantaOf(balance),
    });
  }
}
