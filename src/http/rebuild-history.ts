/** History of accounts from before the start of the process, by a replay of the journal. */
import { openJournal } from '../journal-files/folder-journal.ts';
import { replay } from '../journal/replay/replay.ts';
import type { Host } from './exchange-host.ts';

/** A longer journal would delay the start; then the history begins with the process. */
export const HISTORY_BYTES = 16_777_216;

/** Call before the first command. Returns the number of replayed commands, or null if none were. */
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
