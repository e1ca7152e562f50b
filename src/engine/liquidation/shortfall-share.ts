/**
 * Effect of the shortfall S ≤ 0 on deposits and withdrawals.
 *
 * While S < 0, a withdrawal of a leaves ⌈a × |S| ÷ C⌉ to it, at most |S|. C is the claims of users
 * and the vault at the marks, less exempt deposits: deposits − withdrawals + |S| − insurance −
 * treasury − house − exempt. A withdrawal changes |S| and C by the same ratio, up to rounding
 * against it, so withdrawing first gains nothing.
 *
 * External deposits since S began are exempt up to their amount: they do not pay for earlier
 * losses. C excludes them, so a deposit cannot dilute the share of other money. The exemption lasts
 * one epoch: deposits share in a shortfall that begins later.
 */
import { ceilDivBig, minBig } from '../../num/arithmetic.ts';
import { notional } from '../../num/notional.ts';
import { priceTicks, quanta, type Quanta } from '../../num/units.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { Subaccount } from '../accounts/subaccount.ts';

/** |S|, in Quanta. */
function shortfallSize(state: ExchangeState): bigint {
  return -state.shortfall.cash;
}

/**
 * Equity at the marks of the tape's two accounts. Without a mark their positions offset each other.
 */
function houseEquity(state: ExchangeState): bigint {
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

/** The exempt part of a withdrawal, and its share of the shortfall; both 0 without a shortfall. */
export function shareOfWithdrawal(
  state: ExchangeState,
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

/** Exempt deposits in the current shortfall; those of earlier epochs have expired. */
function exemptOf(state: ExchangeState, subaccount: Subaccount): bigint {
  return subaccount.exemptEpoch === state.shortfallEpoch ? subaccount.exemptQuanta : 0n;
}

function exemptTotal(state: ExchangeState): bigint {
  return state.exemptTotalEpoch === state.shortfallEpoch ? state.exemptTotal : 0n;
}

function changeExempt(state: ExchangeState, subaccount: Subaccount, change: bigint): void {
  subaccount.exemptQuanta = quanta(exemptOf(state, subaccount) + change);
  subaccount.exemptEpoch = state.shortfallEpoch;
  state.exemptTotal = quanta(exemptTotal(state) + change);
  state.exemptTotalEpoch = state.shortfallEpoch;
}

/** Consumes the exempt part of a withdrawal. */
export function useExemption(state: ExchangeState, from: Subaccount, exempt: Quanta): void {
  if (exempt === 0n) return;
  changeExempt(state, from, -exempt);
}

/** Exempts a deposit to a user while there is a shortfall. */
export function exemptDeposit(state: ExchangeState, to: Subaccount, amount: Quanta): void {
  if (shortfallSize(state) <= 0n) return;
  changeExempt(state, to, amount);
}
