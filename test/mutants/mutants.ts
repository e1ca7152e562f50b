/** All mutants, by the part of the exchange that they change. */
import type { ProfileName } from '../../src/fuzz/profile.ts';
import type { Mutant, Quarry } from './mutant.ts';
import { AUTHORITY_MUTANTS } from './table/authority.ts';
import { GROUP_MUTANTS } from './table/groups.ts';
import { MARGIN_MUTANTS } from './table/margin.ts';
import { MATCHING_MUTANTS } from './table/matching.ts';
import { MONEY_MUTANTS } from './table/money.ts';
import { RISK_MUTANTS } from './table/risk.ts';
import { SOLVENCY_MUTANTS } from './table/solvency.ts';

export const MUTANTS: readonly Quarry[] = [
  ...hunted('money', MONEY_MUTANTS),
  ...hunted('matching', MATCHING_MUTANTS),
  ...hunted('groups', GROUP_MUTANTS),
  ...hunted('stress', MARGIN_MUTANTS),
  ...hunted('stress', RISK_MUTANTS),
  ...hunted('permissions', AUTHORITY_MUTANTS),
  ...hunted('solvency', SOLVENCY_MUTANTS),
];

/** Assigns this profile, except to mutants of the tape or of vault shares. */
function hunted(profile: ProfileName, mutants: readonly Mutant[]): readonly Quarry[] {
  return mutants.map((mutant) => {
    if (mutant.profile !== undefined) return { ...mutant, profile: mutant.profile };
    if (mutant.file.startsWith('engine/tape/')) return { ...mutant, profile: 'tape' };
    const aboutShares = profile !== 'solvency' && mutant.rule.startsWith('R-8');
    return { ...mutant, profile: aboutShares ? 'money' : profile };
  });
}
