/** History of accounts from before the start of the process, by a replay of the journal. */
import { openJournal } from '../journal-files/folder-journal.ts';
import { HISTORY_BYTES } from '../journal-files/recover.ts';
import { replay } from '../journal/replay/replay.ts';
import type { Host } from './exchange-host.ts';

/**
 * Call before the first command. Returns the number of replayed commands, or null if none were; the
 * history begins with the process then.
 */
export function rebuildHistory({ exchange, history }: Host): number | null {
  const { path, durableSeq, replica, journalBytes } = exchange;
  if (replica !== null || journalBytes > HISTORY_BYTES) return null;
  const journal = openJournal(path, durableSeq);
  if (journal.fromSeq > 0) return null;
  let commands = 0;
  history.rebuild((sink) => {
    ({ commands } = replay(journal, { verify: false, untilSeq: durableSeq, onEvent: sink }));
  });
  return commands;
}
