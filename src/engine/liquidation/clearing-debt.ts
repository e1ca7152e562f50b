/**
 * The clearing debt of a subaccount (R-6.1, D-75): what others paid for its deficit while gains in
 * frozen markets did not count. At a thaw it goes back to the shortfall, then to insurance.
 */
import { minBig } from '../../num/arithmetic.ts';
import { quanta } from '../../num/units.ts';
import { credit } from '../accounts/ledger.ts';
import type { Subaccount } from '../accounts/subaccount.ts';
import type { Market } from '../market/market.ts';
import { RiskUnit } from '../margin/risk-unit.ts';
import { moveInStep, settlementTicks } from '../pricing/settlement-price.ts';
import type { State } from '../state.ts';
import { repayShortfall } from './shortfall.ts';

/**
 * The market has thawed, and its mark is recomputed. The loss of a debtor here in this step would
 * have paid its debt, and the other side has gained it. So the debt is recalled up to that loss,
 * less the deficit that there is anyway. If the debtor falls below zero by it, the clearing charges
 * the other side, within its gain of this step.
 */
export function recallDebts(state: State, market: Market): void {
  if (market.frozen) return;
  const unitMove = moveInStep(state, market) * market.spec.quantaPerTickLot;
  for (const id of market.holders) {
    const subaccount = state.subaccount(id);
    const { positionLots, isolated } = subaccount.exposure(market.id);
    if (subaccount.clearingDebt === 0n || isolated) continue;
    const lost = -BigInt(positionLots) * BigInt(unitMove);
    const equity = new RiskUnit(subaccount, null).equityAt(state, settlementTicks);
    const room = lost + minBig(0n, equity);
    if (room > 0n) repay(state, subaccount, minBig(room, subaccount.clearingDebt));
  }
}

/** After Phase A of a thaw, repays the debt from equity, and writes the last rest off. */
export function repayClearingDebt(state: State, subaccount: Subaccount): void {
  const unit = new RiskUnit(subaccount, null);
  const markets = unit.positions().map(({ market }) => state.market(market));
  const isFrozen = markets.some(({ frozen }) => frozen);
  if (isFrozen && !markets.some(({ frozen, frozenAtCheck }) => frozenAtCheck && !frozen)) return;
  // At the worse of mark and settlement price: the repayment must not leave a deficit there.
  const equity = minBig(unit.admissionEquity(state), unit.admissionEquity(state, settlementTicks));
  if (equity > 0n) repay(state, subaccount, minBig(equity, subaccount.clearingDebt));
  if (!isFrozen) subaccount.clearingDebt = quanta(0n);
}

function repay(state: State, subaccount: Subaccount, amount: bigint): void {
  subaccount.clearingDebt = quanta(subaccount.clearingDebt - amount);
  const toShortfall = minBig(amount, -state.shortfall.cash);
  credit(state, subaccount, quanta(-amount), 'insuranceRepaid');
  repayShortfall(state, toShortfall, 'insuranceRepaid');
  credit(state, state.insurance, quanta(amount - toShortfall), 'insuranceRepaid');
}
