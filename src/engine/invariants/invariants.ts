/**
 * Invariants that hold after every command, as named predicates. Full scans, simple
 * rather than fast: run them after each command in tests and periodically in long runs. A predicate
 * returns null or a description of the violation.
 */
import { hiddenReach, levelOrder, levelTotals, uncrossedBook } from './check-book.ts';
import {
  conservation,
  exemptDeposits,
  insuranceNotNegative,
  isolatedMargin,
  shortfallNotPositive,
  vaultShares,
} from './check-money.ts';
import { marginSumsMatch, restingSumsMatch } from './check-margin-sums.ts';
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
import type { ExchangeState } from '../exchange-state.ts';
import type { InvariantViolation } from '../read/views.ts';

export interface StateInvariant {
  readonly name: string;
  /** Rule ids covered. */
  readonly rule: string;
  /** The invariant as a sentence. */
  readonly says: string;
  readonly found: (state: ExchangeState) => string | null;
}

export const STATE_INVARIANTS: readonly StateInvariant[] = [
  {
    name: 'conservation',
    rule: 'R-1.6',
    says: 'cash, margins and positions at cost sum to net deposits',
    found: conservation,
  },
  {
    name: 'openInterest',
    rule: 'R-1.6',
    says: 'signed positions of a market sum to zero, and open interest is the sum of longs',
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
    says: 'levels are sorted from the best price outward',
    found: levelOrder,
  },
  {
    name: 'levelTotals',
    rule: 'R-2.5',
    says: 'totals of a level equal the sums over its queue',
    found: levelTotals,
  },
  {
    name: 'hiddenReach',
    rule: 'R-14.5',
    says: 'a level within reach of the impact has no house lots in the book',
    found: hiddenReach,
  },
  {
    name: 'orderQuantities',
    rule: 'R-2.9',
    says: 'quantity is settled plus remaining, and the status is consistent',
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
    says: 'no live order is past its expiry',
    found: nothingExpired,
  },
  {
    name: 'openOrderSums',
    rule: 'R-5.4',
    says: 'margin counts exactly the resting orders',
    found: openOrderSums,
  },
  {
    name: 'requirementIsSum',
    rule: 'R-5.4',
    says: 'equity and requirements are the sums over positions and orders',
    found: requirementIsSum,
  },
  {
    name: 'restingSums',
    rule: 'R-5.5',
    says: 'sums of resting orders by price equal those over the orders',
    found: restingSumsMatch,
  },
  {
    name: 'marginSums',
    rule: 'R-5.5',
    says: 'the sums that admission reads equal those over orders and positions',
    found: marginSumsMatch,
  },
  {
    name: 'pendingOrders',
    rule: 'R-3.3, R-3.5',
    says: 'a live order is pending or resting, and is counted once',
    found: pendingOrders,
  },
  {
    name: 'legsCover',
    rule: 'R-3.5, R-3.6',
    says: 'protective orders cover at most the protected size',
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
    says: 'a flat position has no cost and no funding',
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
    says: 'no account stays below maintenance',
    found: noneLiquidatable,
  },
  {
    name: 'vaultShares',
    rule: 'R-8.2',
    says: 'vault shares sum to those of their holders',
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
    says: 'exempt deposits sum to those of their owners',
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
    says: 'equity at the marks sums to net deposits',
    found: equityIsSupply,
  },
  {
    name: 'claimsCovered',
    rule: 'R-1.6a',
    says: 'only the house, the shortfall and holders of frozen positions have negative equity',
    found: claimsCovered,
  },
];

/** Solvency rules: claims are covered; insurance and shortfall are within their bounds. */
const SOLVENCY_RULES: readonly string[] = ['R-1.6a', 'R-6.6', 'R-6.7'];
const SOLVENCY = STATE_INVARIANTS.filter(({ rule }) => SOLVENCY_RULES.includes(rule));

export function violations(state: ExchangeState): InvariantViolation[] {
  return broken(state, STATE_INVARIANTS);
}

/** One pass over all accounts per invariant, on an operator's request between commands. */
export function solvencyViolations(state: ExchangeState): InvariantViolation[] {
  return broken(state, SOLVENCY);
}

function broken(state: ExchangeState, invariants: readonly StateInvariant[]): InvariantViolation[] {
  const found: InvariantViolation[] = [];
  for (const { name, rule, says, found: detailOf } of invariants) {
    const detail = detailOf(state);
    if (detail !== null) found.push({ invariant: name, rule, says, detail });
  }
  return found;
}
