import type { ProfileName } from '../../src/fuzz/profile.ts';

/** A node of the syntax tree, and its replacement. */
export interface SourceEdit {
  /** Path below `src/`, `#`, and the declaration in it: `engine/a.ts#Class.method`. */
  readonly file: string;
  /** The node as code. Exactly one in the declaration has these tokens (`aim.ts`). */
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
