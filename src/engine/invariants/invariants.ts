/**
 * Invariants that hold after every command, as named predicates (DESIGN §9). Full scans, simple
 * rather than fast: run them after each command in tests and periodically in long runs. A predicate
 * returns null or a description of the violation.
 */
import { levelOrder, levelTotals, uncrossedBook } from './check-book.ts';
import {
  conservation,
  exemptDeposits,
  insuranceNotNegative,
  isolatedMargin,
  shortfallNotPositive,
  vaultShares,
} from './check-money.ts';
import {
  legsCover,
  nothingExpired,
  openOrderSums,
  orderIndices,
  orderQuantities,
  reduceOnlyHasPosition,
  pendingOrders,
} from './check-orders.ts';
import {
  flatIsEmpty,
  holders,
  noneLiquidatable,
  openInterest,
  requirementIsSum,
} from './check-positions.ts';
import { claimsCovered, equityIsSupply, noFlatDebt } from './check-solvency.ts';
import type { State } from '../state.ts';
import type { InvariantViolation } from '../read/views.ts';

export interface StateInvariant {
  readonly name: string;
  /** Rule ids covered. */
  readonly rule: string;
  /** The invariant as a sentence. */
  readonly says: string;
  readonly found: (state: State) => string | null;
}

export const STATE_INVARIANTS: readonly StateInvariant[] = [
  {
    name: 'conservation',
    rule: 'R-1.6',
    says: 'cash, margins and positions at cost add up to what was paid in',
    found: conservation,
  },
  {
    name: 'openInterest',
    rule: 'R-1.6',
    says: 'longs and shorts of a market cancel out, and open interest is the longs',
    found: openInterest,
  },
  {
    name: 'uncrossedBook',
    rule: 'R-2.3',
    says: 'the best bid is below the best ask',
    found: uncrossedBook,
  },
  {
    name: 'levelOrder',
    rule: 'R-2.5',
    says: 'levels follow one another from the best price outward',
    found: levelOrder,
  },
  {
    name: 'levelTotals',
    rule: 'R-2.5',
    says: 'a level holds what stands in its queue',
    found: levelTotals,
  },
  {
    name: 'orderQuantities',
    rule: 'R-2.9',
    says: 'quantity is settled plus remaining, and the status says as much',
    found: orderQuantities,
  },
  {
    name: 'orderIndices',
    rule: 'R-2.10, R-2.11',
    says: 'a live order is found by id, clientId, owner and expiry',
    found: orderIndices,
  },
  {
    name: 'nothingExpired',
    rule: 'R-2.12',
    says: 'no order lives past its expiry',
    found: nothingExpired,
  },
  {
    name: 'openOrderSums',
    rule: 'R-5.4',
    says: 'margin counts exactly the orders that rest',
    found: openOrderSums,
  },
  {
    name: 'requirementIsSum',
    rule: 'R-5.4',
    says: 'equity and requirements are the sums over positions and orders',
    found: requirementIsSum,
  },
  {
    name: 'pendingOrders',
    rule: 'R-3.3, R-3.5',
    says: 'a live order waits or rests, and is counted once',
    found: pendingOrders,
  },
  {
    name: 'legsCover',
    rule: 'R-3.5, R-3.6',
    says: 'protection covers no more than what it protects',
    found: legsCover,
  },
  {
    name: 'reduceOnlyHasPosition',
    rule: 'R-2.7',
    says: 'a reduce-only order rests only against a position',
    found: reduceOnlyHasPosition,
  },
  {
    name: 'flatIsEmpty',
    rule: 'R-5.2',
    says: 'a flat position carries no cost and no funding',
    found: flatIsEmpty,
  },
  {
    name: 'isolatedMargin',
    rule: 'R-5.6',
    says: 'only an open isolated position holds margin',
    found: isolatedMargin,
  },
  {
    name: 'holders',
    rule: 'R-6.1',
    says: 'the holders of a market are those with a position there',
    found: holders,
  },
  {
    name: 'noneLiquidatable',
    rule: 'R-6.1',
    says: 'nobody stays below maintenance',
    found: noneLiquidatable,
  },
  {
    name: 'vaultShares',
    rule: 'R-8.2',
    says: 'vault shares are those of their holders',
    found: vaultShares,
  },
  {
    name: 'insuranceNotNegative',
    rule: 'R-6.7',
    says: 'insurance is never overdrawn',
    found: insuranceNotNegative,
  },
  {
    name: 'shortfallNotPositive',
    rule: 'R-6.6',
    says: 'the shortfall is never above zero',
    found: shortfallNotPositive,
  },
  {
    name: 'exemptDeposits',
    rule: 'R-6.6',
    says: 'deposits exempt from the shortfall add up',
    found: exemptDeposits,
  },
  {
    name: 'noFlatDebt',
    rule: 'R-1.6a',
    says: 'a unit without a position owes nothing',
    found: noFlatDebt,
  },
  {
    name: 'equityIsSupply',
    rule: 'R-1.6a',
    says: 'equity at the marks adds up to what was paid in',
    found: equityIsSupply,
  },
  {
    name: 'claimsCovered',
    rule: 'R-1.6a',
    says: 'only the house, the shortfall and holders of frozen positions have negative equity',
    found: claimsCovered,
  },
];

/**
 * Solvency rules: claims are covered, and the insurance and shortfall accounts are within their
 * bounds.
 */
const SOLVENCY_RULES: readonly string[] = ['R-1.6a', 'R-6.6', 'R-6.7'];
const SOLVENCY = STATE_INVARIANTS.filter(({ rule }) => SOLVENCY_RULES.includes(rule));

export function violations(state: State): InvariantViolation[] {
  return broken(state, STATE_INVARIANTS);
}

/** One pass over all accounts per invariant, on an operator's request between commands. */
export function solvencyViolations(state: State): InvariantViolation[] {
  return broken(state, SOLVENCY);
}

function broken(state: State, invariants: readonly StateInvariant[]): InvariantViolation[] {
  const found: InvariantViolation[] = [];
  for (const { name, rule, says, found: detailOf } of invariants) {
    const detail = detailOf(state);
    if (detail !== null) found.push({ invariant: name, rule, says, detail });
  }
  return found;
}
