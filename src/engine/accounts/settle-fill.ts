/** The money of one side of a fill: realised PnL and fees, in cash or isolated margin. */
import { quanta, type Quanta } from '../../num/units.ts';
import { NONE } from '../book/order-table.ts';
import { NO_FEES, totalFee, type Deal, type SideFees } from './fees.ts';
import type { IsolatedFill } from '../margin/isolated-margin.ts';
import type { State } from '../state.ts';
import { creditMargin, moveToMargin } from './isolated-ledger.ts';
import { credit } from './ledger.ts';
import type { Exposure, Subaccount } from './subaccount.ts';

/** One side of a fill. */
export interface FilledSide {
  readonly exposure: Exposure;
  /** Its order; NONE for the house, which pays no fees. */
  readonly slot: number;
  readonly deal: Deal;
  /** Margin moved by an isolated side; null for cross. */
  readonly plan: IsolatedFill | null;
  /** The position before, and what the fill takes out of it. */
  before: number;
  funding: Quanta;
  realized: Quanta;
}

export function settleFill(state: State, side: FilledSide): void {
  const { exposure, slot, realized, plan } = side;
  const { fees } = side.deal;
  const subaccount = state.subaccount(exposure.subaccount);
  if (plan !== null) settleIsolated(state, subaccount, exposure, plan);
  else {
    credit(state, subaccount, realized, 'realizedPnl');
    if (fees !== NO_FEES) payFees(state, subaccount, fees);
  }
  if (fees === NO_FEES) return;
  exposure.feesQuanta = quanta(exposure.feesQuanta + totalFee(fees));
  if (!fees.others || fees.originator === 0n || slot === NONE) return;
  const originator = state.orders.originator(slot);
  if (originator === null) return;
  credit(state, state.accounts.open(originator, 0, state.nowUs), fees.originator, 'originatorFee');
}

export function settleIsolated(
  state: State,
  subaccount: Subaccount,
  exposure: Exposure,
  plan: IsolatedFill,
): void {
  creditMargin(state, exposure, plan.pnl, 'realizedPnl');
  creditMargin(state, exposure, -plan.closingFees.protocol, 'fee');
  creditMargin(state, exposure, -plan.closingFees.originator, 'originatorFee');
  creditMargin(state, exposure, -plan.closingFees.liquidation, 'liquidationFee');
  if (plan.returned > 0n) moveToMargin(state, subaccount, exposure, quanta(-plan.returned));
  payFees(state, subaccount, plan.openingFees);
  moveToMargin(state, subaccount, exposure, quanta(plan.moved));
}

function payFees(state: State, subaccount: Subaccount, fees: SideFees): void {
  credit(state, subaccount, quanta(-fees.protocol), 'fee');
  if (!fees.others) return;
  credit(state, subaccount, quanta(-fees.originator), 'originatorFee');
  credit(state, subaccount, quanta(-fees.liquidation), 'liquidationFee');
}
