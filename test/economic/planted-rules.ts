/**
 * The rules that let money leave, each planted back into the engine as it is: edits of its source text that exist in a test build
 * only. A planted rule has the number of the attack that it allows.
 */
import type { SourceEdit } from '../mutants/mutant.ts';

export interface PlantedRule {
  readonly id: string;
  readonly attack: 1 | 2 | 3 | 4 | 5 | 6 | 8;
  /** The old rule, in a sentence. */
  readonly means: string;
  /** The rule that it replaces. */
  readonly rule: string;
  readonly edits: readonly SourceEdit[];
}

export const PLANTED_RULES: readonly PlantedRule[] = [];
