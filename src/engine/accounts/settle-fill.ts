/** The money of one side of a fill: realised PnL and fees, in cash or isolated margin. */
import { isNothing, negated, NO_MONEY, plus, quantaOf, type Money } from '../../num/money.ts';
import {
  lots,
  marketId,
  priceTicks,
  quanta,
  subaccountId,
  type Lots,
  type PriceTicks,
} from '../../num/units.ts';
import { NONE } from '../book/order-table.ts';
import { NO_FEES, totalFee, type Deal, type SideFees } from './fees.ts';
import type { IsolatedFill } from '../margin/isolated-margin.ts';
import type { State } from '../state.ts';
import { creditMargin, moveToMargin } from './isolated-ledger.ts';
import { creditMoney } from './ledger.ts';
import { Exposure, type Subaccount } from './subaccount.ts';

/** Of a side that no fill has used yet. */
const NO_EXPOSURE = new Exposure(subaccountId(0), marketId(0));

/** One side of a fill; the exchange has two, which every fill uses again. */
export class FilledSide implements Deal {
  exposure = NO_EXPOSURE;
  /** Its order; NONE for the house, which pays no fees. */
  slot = NONE;
  lots: Lots = lots(0);
  priceTicks: PriceTicks = priceTicks(0);
  fees: SideFees = NO_FEES;
  /** Margin moved by an isolated side; null for cross. */
  plan: IsolatedFill | null = null;
  /** The position before, and what the fill takes out of it. */
  before = 0;
  funding: Money = NO_MONEY;
  realized: Money = NO_MONEY;

  setDeal(size: number, price: PriceTicks, fees: SideFees): void {
    this.lots = lots(size);
    this.priceTicks = price;
    this.fees = fees;
  }
}

export function settleFill(state: State, side: FilledSide): void {
  const { exposure, slot, realized, plan, fees } = side;
  const subaccount = state.subaccount(exposure.subaccount);
  if (plan !== null) settleIsolated(state, subaccount, exposure, plan);
  else {
    creditMoney(state, subaccount, realized, 'realizedPnl');
    if (fees !== NO_FEES) payFees(state, subaccount, fees);
  }
  if (fees === NO_FEES) return;
  exposure.feesMoney = plus(exposure.feesMoney, totalFee(fees));
  if (!fees.others || isNothing(fees.originator) || slot === NONE) return;
  const originator = state.orders.originator(slot);
  if (originator === null) return;
  const home = state.accounts.open(originator, 0, state.nowUs);
  creditMoney(state, home, fees.originator, 'originatorFee');
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
  creditMoney(state, subaccount, negated(fees.protocol), 'fee');
  if (!fees.others) return;
  creditMoney(state, subaccount, negated(fees.originator), 'originatorFee');
  creditMoney(state, subaccount, negated(fees.liquidation), 'liquidationFee');
}
