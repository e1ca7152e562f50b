/** The money of one side of a fill: realised PnL and fees, in cash or isolated margin. */
import { isNothing, negated, plus, quantaOf } from '../../num/money.ts';
import { quanta } from '../../num/units.ts';
import { NONE } from '../book/order-table.ts';
import type { FilledSide, IsolatedFill } from './filled-side.ts';
import { NO_FEES, totalFee, type SideFees } from './order-fees.ts';
import type { State } from '../state.ts';
import { creditMargin, moveToMargin } from './isolated-ledger.ts';
import { creditMoney } from './ledger.ts';
import type { Exposure, Subaccount } from './subaccount.ts';
import { LEDGER_CODES } from '../schema/event-schema.ts';

export function settleFill(state: State, side: FilledSide): void {
  const { exposure, slot, realized, plan, fees } = side;
  const subaccount = state.subaccount(exposure.subaccount);
  if (plan !== null) settleIsolated(state, subaccount, exposure, plan);
  else {
    creditMoney(state, subaccount, realized, LEDGER_CODES.realizedPnl);
    if (fees !== NO_FEES) payFees(state, subaccount, fees);
  }
  if (fees === NO_FEES) return;
  exposure.feesMoney = plus(exposure.feesMoney, totalFee(fees));
  if (!fees.others || isNothing(fees.originator) || slot === NONE) return;
  const originator = state.orders.originator(slot);
  if (originator === null) return;
  const home = state.accounts.open(originator, 0, state.nowUs);
  creditMoney(state, home, fees.originator, LEDGER_CODES.originatorFee);
}

export function settleIsolated(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  plan: IsolatedFill,
): void {
  creditMargin(state, exposure, plan.pnl, 'realizedPnl');
  creditMargin(state, exposure, -quantaOf(plan.closingFees.protocol), 'fee');
  creditMargin(state, exposure, -quantaOf(plan.closingFees.originator), 'originatorFee');
  creditMargin(state, exposure, -quantaOf(plan.closingFees.liquidation), 'liquidationFee');
  if (plan.returned > 0n) moveToMargin(state, subaccount, exposure, quanta(-plan.returned));
  payFees(state, subaccount, plan.openingFees);
  moveToMargin(state, subaccount, exposure, quanta(plan.moved));
}

function payFees(state: State, subaccount: Subaccount, fees: SideFees): void {
  creditMoney(state, subaccount, negated(fees.protocol), LEDGER_CODES.fee);
  if (!fees.others) return;
  creditMoney(state, subaccount, negated(fees.originator), LEDGER_CODES.originatorFee);
  creditMoney(state, subaccount, negated(fees.liquidation), LEDGER_CODES.liquidationFee);
}
