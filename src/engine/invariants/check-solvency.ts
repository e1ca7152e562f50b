/**
 * Invariants of solvency (R-1.6a): no debt without a position, claims sum to net deposits, and
 * negative equity only where rules allow it. Equity is at the marks, including frozen ones.
 */
import type { Exposure, Subaccount } from '../accounts/subaccount.ts';
import type { ExchangeState } from '../exchange-state.ts';

/** Roles that may owe: the tape's accounts and the shortfall account. */
function mayOwe({ role }: Subaccount): boolean {
  return role === 'house' || role === 'shortfall';
}

/** No unit without a position has a negative balance. */
export function noFlatDebt(state: ExchangeState): string | null {
  for (const subaccount of state.accounts.subaccounts) {
    if (mayOwe(subaccount)) continue;
    const { id, cash, exposures } = subaccount;
    const holds = exposures.some((e) => e !== undefined && !e.isolated && e.positionLots !== 0);
    if (!holds && cash < 0n) return `subaccount ${String(id)} owes ${String(-cash)}`;
    for (const exposure of exposures) {
      if (exposure?.positionLots !== 0 || exposure.marginQuanta >= 0n) continue;
      return `subaccount ${String(id)} market ${String(exposure.market)} owes ${String(-exposure.marginQuanta)}`;
    }
  }
  return null;
}

/** Σ equity at one set of marks = deposits − withdrawals. */
export function equityIsSupply(state: ExchangeState): string | null {
  let sum = 0n;
  for (const subaccount of state.accounts.subaccounts) {
    sum += subaccount.cash;
    for (const exposure of subaccount.exposures) {
      if (exposure !== undefined) sum += exposure.marginQuanta + upnl(state, exposure);
    }
  }
  return sum === state.supply ? null : `equity ${String(sum)} ≠ supply ${String(state.supply)}`;
}

/** A unit with negative equity is the house, the shortfall, or holds a frozen position. */
export function claimsCovered(state: ExchangeState): string | null {
  for (const subaccount of state.accounts.subaccounts) {
    if (mayOwe(subaccount)) continue;
    let cross: bigint = subaccount.cash;
    let crossFrozen = false;
    for (const exposure of subaccount.exposures) {
      if (exposure === undefined) continue;
      const frozen = exposure.positionLots !== 0 && state.market(exposure.market).frozen;
      if (!exposure.isolated) {
        cross += upnl(state, exposure);
        crossFrozen ||= frozen;
        continue;
      }
      const equity = exposure.marginQuanta + upnl(state, exposure);
      if (equity < 0n && !frozen) {
        return `subaccount ${String(subaccount.id)} market ${String(exposure.market)} has ${String(equity)}`;
      }
    }
    if (cross < 0n && !crossFrozen) {
      return `subaccount ${String(subaccount.id)} has ${String(cross)}`;
    }
  }
  return null;
}

/** Without a mark only the tape's accounts have positions, which offset each other at any price. */
function upnl(state: ExchangeState, { market, positionLots, costQuanta }: Exposure): bigint {
  const { markTicks, spec } = state.market(market);
  const value = BigInt(positionLots) * BigInt(markTicks ?? 0) * BigInt(spec.quantaPerTickLot);
  return value - costQuanta;
}
