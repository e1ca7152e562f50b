/** Invariants of money, exact to one Quantum. */
import type { ExchangeState } from '../exchange-state.ts';

/** Σ cash + Σ isolated margin − Σ signed cost = deposits − withdrawals. */
export function conservation(state: ExchangeState): string | null {
  let cash = 0n;
  let cost = 0n;
  for (const subaccount of state.accounts.subaccounts) {
    cash += subaccount.cash;
    for (const exposure of subaccount.exposures) {
      cost += exposure?.costQuanta ?? 0n;
      cash += exposure?.marginQuanta ?? 0n;
    }
  }
  if (cash - cost === state.supply) return null;
  return `cash ${String(cash)} − cost ${String(cost)} ≠ supply ${String(state.supply)}`;
}

/** only isolated positions hold margin, and none is left when they close. */
export function isolatedMargin(state: ExchangeState): string | null {
  for (const { id, exposures } of state.accounts.subaccounts) {
    for (const exposure of exposures) {
      if (exposure === undefined || exposure.marginQuanta === 0n) continue;
      if (!exposure.isolated || exposure.positionLots === 0) {
        return `subaccount ${String(id)} market ${String(exposure.market)}`;
      }
    }
  }
  return null;
}

/** total shares equal the sum over holders, and none is negative. */
export function vaultShares(state: ExchangeState): string | null {
  let sum = 0n;
  for (const { id, vaultShares } of state.accounts.subaccounts) {
    if (vaultShares < 0n) return `subaccount ${String(id)} holds ${String(vaultShares)}`;
    sum += vaultShares;
  }
  return sum === state.vaultShares ? null : `${String(sum)} ≠ ${String(state.vaultShares)}`;
}

/** insurance is never overdrawn. */
export function insuranceNotNegative(state: ExchangeState): string | null {
  return state.insurance.cash >= 0n ? null : `insurance holds ${String(state.insurance.cash)}`;
}

/** the shortfall is zero or negative. */
export function shortfallNotPositive(state: ExchangeState): string | null {
  return state.shortfall.cash <= 0n ? null : `shortfall holds ${String(state.shortfall.cash)}`;
}

/**
 * exempt deposits of the newest shortfall sum to those of their owners; none is negative.
 */
export function exemptDeposits(state: ExchangeState): string | null {
  const epoch = state.shortfallEpoch;
  let sum = 0n;
  for (const { id, exemptEpoch, exemptQuanta } of state.accounts.subaccounts) {
    if (exemptQuanta < 0n) return `subaccount ${String(id)} has ${String(exemptQuanta)} exempt`;
    if (exemptEpoch === epoch) sum += exemptQuanta;
  }
  const total = state.exemptTotalEpoch === epoch ? state.exemptTotal : 0n;
  return sum === total ? null : `${String(sum)} ≠ ${String(total)}`;
}
