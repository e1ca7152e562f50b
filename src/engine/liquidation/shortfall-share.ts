/**
 * What deposits and withdrawals have to do with the shortfall S ≤ 0.
 *
 * While S < 0, a withdrawal of a leaves ⌈a × |S| ÷ C⌉ to it, rounded up and at most |S|. C is what users and the vault claim
 * at the marks without what is exempt: deposits − withdrawals + |S| − insurance − treasury − house − exempt. A
 * withdrawal changes both |S| and C by the same ratio, but for rounding against it, so leaving first gains nothing.
 *
 * Deposits from outside since S began are exempt up to their amount: they pay for no loss before their time, and since C
 * leaves them out, depositing cannot dilute the share of other money. They count for one epoch: a shortfall that begins
 * later takes its share of them, too.
 */
import { ceilDivBig, minBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { priceTicks, quanta, type Quanta } from '../../num/units.ts';
import type { State } from '../state.ts';
import type { Subaccount } from '../accounts/subaccount.ts';

/** |S|, in Quanta. */
function shortfallSize(state: State): bigint {
  return -state.shortfall.cash;
}

/** Equity at the marks of the tape's two accounts. Where there is no mark their positions cancel out, at any price. */
function houseEquity(state: State): bigint {
  let equity = 0n;
  for (const house of [state.houseMaker, state.houseTaker]) {
    equity += house.cash;
    for (const exposure of house.exposures) {
      if (exposure === undefined) continue;
      const { markTicks, spec } = state.market(exposure.market);
      const price = markTicks ?? priceTicks(0);
      equity += notional(exposure.positionLots, price, spec.quantaPerTickLot);
      equity -= exposure.costQuanta;
    }
  }
  return equity;
}

/** What of a withdrawal is exempt, and what it leaves to the shortfall; both 0 without one. */
export function shareOfWithdrawal(
  state: State,
  from: Subaccount,
  amount: Quanta,
): { readonly exempt: Quanta; readonly share: Quanta } {
  const size = shortfallSize(state);
  if (size <= 0n) return { exempt: quanta(0n), share: quanta(0n) };
  const exempt = minBig(amount, exemptOf(state, from));
  const rest = amount - exempt;
  const { insurance, treasury } = state;
  const system = insurance.cash + treasury.cash + houseEquity(state);
  const claims = state.supply + size - system - exemptTotal(state);
  const part = claims <= 0n ? rest : minBig(rest, ceilDivBig(rest * size, claims));
  return { exempt: quanta(exempt), share: quanta(minBig(part, size)) };
}

/** Exempt deposits of the shortfall that is open; those of an earlier one count no more. */
function exemptOf(state: State, subaccount: Subaccount): bigint {
  return subaccount.exemptEpoch === state.shortfallEpoch ? subaccount.exemptQuanta : 0n;
}

function exemptTotal(state: State): bigint {
  return state.exemptTotalEpoch === state.shortfallEpoch ? state.exemptTotal : 0n;
}

function changeExempt(state: State, subaccount: Subaccount, change: bigint): void {
  subaccount.exemptQuanta = quanta(exemptOf(state, subaccount) + change);
  subaccount.exemptEpoch = state.shortfallEpoch;
  state.exemptTotal = quanta(exemptTotal(state) + change);
  state.exemptTotalEpoch = state.shortfallEpoch;
}

/** The exempt part of a withdrawal is used up. */
export function useExemption(state: State, from: Subaccount, exempt: Quanta): void {
  if (exempt === 0n) return;
  changeExempt(state, from, -exempt);
}

/** A deposit to a user while there is a shortfall. */
export function exemptDeposit(state: State, to: Subaccount, amount: Quanta): void {
  if (shortfallSize(state) <= 0n) return;
  changeExempt(state, to, amount);
}
