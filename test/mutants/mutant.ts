import type { ProfileName } from '../../src/fuzz/profile.ts';

/** A text of the engine that occurs exactly once in its file, and the text that replaces it. */
export interface SourceEdit {
  /** Below `src/`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** One small lie about a rule. */
export interface Mutant extends SourceEdit {
  readonly id: string;
  /** What the exchange then does wrong, in a sentence. */
  readonly means: string;
  /** The rule that it breaks. */
  readonly rule: string;
  /** Where its table's profile does not lean on it. */
  readonly profile?: ProfileName;
}

/** A mutant, and the profile of runs that leans on what it lies about: every second run of a hunter is one of these. */
export interface Quarry extends Mutant {
  readonly profile: ProfileName;
}
