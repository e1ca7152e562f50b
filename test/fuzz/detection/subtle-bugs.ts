/** Bugs that a measurement plants one by one; each was written from the sources alone. */
import { BLIND_BUGS } from './blind-bugs.ts';
import { CONCEALED_BUGS } from './concealed-bugs.ts';
import { EXAMINER_BUGS } from './examiner-bugs.ts';
import { FURTHER_BUGS } from './further-bugs.ts';
import { FOREIGN_BUGS } from './foreign-bugs.ts';
import { FRESH_BUGS } from './fresh-bugs.ts';
import { HIDDEN_BUGS } from './hidden-bugs.ts';
import { LATER_BUGS } from './later-bugs.ts';
import { OUTSIDE_BUGS } from './outside-bugs.ts';
import { UNAIDED_BUGS } from './unaided-bugs.ts';
import { INDEPENDENT_BUGS } from './independent-bugs.ts';
import { PLAIN_BUGS } from './plain-bugs.ts';
import { RECORD_BUGS } from './record-bugs.ts';
import { RULE_BUGS } from './rule-bugs.ts';
import type { SubtleBug } from './subtle-bug.ts';
import { SEALED_BUGS } from './sealed-bugs.ts';
import { SEPARATE_BUGS } from './separate-bugs.ts';
import { UNSEEN_BUGS } from './unseen-bugs.ts';

export const SUBTLE_BUGS: readonly SubtleBug[] = [
  ...RULE_BUGS,
  ...RECORD_BUGS,
  ...LATER_BUGS,
  ...BLIND_BUGS,
  ...FRESH_BUGS,
  ...UNSEEN_BUGS,
  ...SEALED_BUGS,
  ...HIDDEN_BUGS,
  ...CONCEALED_BUGS,
  ...FURTHER_BUGS,
  ...FOREIGN_BUGS,
  ...OUTSIDE_BUGS,
  ...UNAIDED_BUGS,
  ...PLAIN_BUGS,
  ...INDEPENDENT_BUGS,
  ...SEPARATE_BUGS,
  ...EXAMINER_BUGS,
];
