/**
 * Subtle bugs of all kinds. `detect.ts` measures which of them a campaign of a minute finds.
 */
import { RECORD_BUGS } from './record-bugs.ts';
import { RULE_BUGS } from './rule-bugs.ts';
import type { SubtleBug } from './subtle-bug.ts';

export const SUBTLE_BUGS: readonly SubtleBug[] = [...RULE_BUGS, ...RECORD_BUGS];
