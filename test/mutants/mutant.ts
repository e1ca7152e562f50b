import type { ProfileName } from '../../src/fuzz/profile.ts';

/** A text that occurs exactly once in its engine file, and its replacement. */
export interface SourceEdit {
  /** Path below `src/`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** One small defect of a rule. */
export interface Mutant extends SourceEdit {
  readonly id: string;
  /** Effect of the defect, in one sentence. */
  readonly means: string;
  /** The rule that it violates. */
  readonly rule: string;
  /** Profile to use if the default of its table does not exercise the rule. */
  readonly profile?: ProfileName;
}

/** A mutant, and the profile that exercises its rule in every second run. */
export interface Quarry extends Mutant {
  readonly profile: ProfileName;
}
