/** All mutants, by the part of the exchange that they lie about. */
import type { Mutant } from './mutant.ts';
import { AUTHORITY_MUTANTS } from './table/authority.ts';
import { GROUP_MUTANTS } from './table/groups.ts';
import { MARGIN_MUTANTS } from './table/margin.ts';
import { MATCHING_MUTANTS } from './table/matching.ts';
import { MONEY_MUTANTS } from './table/money.ts';
import { RISK_MUTANTS } from './table/risk.ts';

export const MUTANTS: readonly Mutant[] = [
  ...MONEY_MUTANTS,
  ...MATCHING_MUTANTS,
  ...GROUP_MUTANTS,
  ...MARGIN_MUTANTS,
  ...RISK_MUTANTS,
  ...AUTHORITY_MUTANTS,
];
