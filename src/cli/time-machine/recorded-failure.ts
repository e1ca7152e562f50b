/** The failure of a folder that the fuzzer wrote: its journal is checked again by all checks. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FoundFailure } from '../../design/page-elements.ts';
import { withNames } from '../../time-machine/views/account-names.ts';
import { Timeline } from '../../time-machine/timeline.ts';

/** Files that only the folder of a failure has. */
const FILES = ['README.md', 'regression.test.ts', 'requests.sh'];

/** `journal`: of the page, so that the text has its accounts and ids. Null for other paths. */
export async function recordedFailure(
  path: string,
  journal: Uint8Array,
): Promise<FoundFailure | null> {
  const found = FILES.map((name) => stat(join(path, name)).then(Boolean, () => false));
  if (!(await Promise.all(found)).every(Boolean)) return null;
  // The oracle and all checks are loaded only here.
  const { checkJournal } = await import('../../fuzz/check-journal.ts');
  const failure = checkJournal(journal);
  if (failure !== null) {
    const { invariant, rule, says, detail } = failure.violation;
    const seq = failure.commands.length;
    const { engine } = Timeline.open(journal).seek(seq);
    const text = withNames(engine, `${invariant} (${rule}): ${says}. Found instead: ${detail}`);
    return { seq, text };
  }
  const text =
    'All checks pass with this version: the failure was of another version, or of a check that is not part of it.';
  return { seq: Timeline.open(journal).index().seq, text };
}
