/** Bugs that a measurement plants one by one; each was written from the sources alone. */
import { BLIND_BUGS } from './blind-bugs.ts';
import { CONCEALED_BUGS } from './concealed-bugs.ts';
import { EXAMINER_BUGS } from './examiner-bugs.ts';
import { FOREIGN_BUGS } from './foreign-bugs.ts';
import { FRESH_BUGS } from './fresh-bugs.ts';
import { FURTHER_BUGS } from './further-bugs.ts';
import { HIDDEN_BUGS } from './hidden-bugs.ts';
import { INDEPENDENT_BUGS } from './independent-bugs.ts';
import { LATER_BUGS } from './later-bugs.ts';
import { OUTSIDE_BUGS } from './outside-bugs.ts';
import { PLAIN_BUGS } from './plain-bugs.ts';
import { RECENT_BUGS } from './recent-bugs.ts';
import { RECORD_BUGS } from './record-bugs.ts';
import { RULE_BUGS } from './rule-bugs.ts';
import { SEALED_BUGS } from './sealed-bugs.ts';
import { SEPARATE_BUGS } from './separate-bugs.ts';
import type { SubtleBug } from './subtle-bug.ts';
import { UNAIDED_BUGS } from './unaided-bugs.ts';
import { UNSEEN_BUGS } from './unseen-bugs.ts';

/** By list, in the order in which they were written. Each was complete before it was measured. */
export const BUG_LISTS = {
  first: [...RULE_BUGS, ...RECORD_BUGS],
  later: LATER_BUGS,
  blind: BLIND_BUGS,
  fresh: FRESH_BUGS,
  unseen: UNSEEN_BUGS,
  sealed: SEALED_BUGS,
  hidden: HIDDEN_BUGS,
  concealed: CONCEALED_BUGS,
  further: FURTHER_BUGS,
  foreign: FOREIGN_BUGS,
  outside: OUTSIDE_BUGS,
  unaided: UNAIDED_BUGS,
  plain: PLAIN_BUGS,
  independent: INDEPENDENT_BUGS,
  separate: SEPARATE_BUGS,
  examiner: EXAMINER_BUGS,
  recent: RECENT_BUGS,
} as const satisfies Readonly<Record<string, readonly SubtleBug[]>>;

export type BugList = keyof typeof BUG_LISTS;

export const LISTS = Object.keys(BUG_LISTS) as readonly BugList[];

export const SUBTLE_BUGS: readonly SubtleBug[] = Object.values(BUG_LISTS).flat();

export function listOf(bug: SubtleBug): BugList {
  const list = LISTS.find((name) => BUG_LISTS[name].includes(bug));
  if (list === undefined) throw new Error(`${bug.id} is in no list`);
  return list;
}
