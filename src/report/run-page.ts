/** The time machine in the folder of a run, to which the fills of its report link. */
import { readFile, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { NO_ABOUT } from '../design/page-elements.ts';
import { MOST_BYTES, PackedJournal } from './packed-journal.ts';
import { writePacked, writeTimeMachine } from './time-machine-page.ts';
import { TIME_MACHINE } from './write.ts';

/**
 * Writes the page if the run kept a journal of moderate size; removes that of an earlier run.
 * `journal` is its file, or has its bytes; null if the run kept none.
 */
export async function writeRunPage(
  folder: string,
  journal: string | PackedJournal | null,
): Promise<void> {
  const page = join(folder, TIME_MACHINE);
  const about = { ...NO_ABOUT, name: basename(resolve(folder)) };
  if (journal instanceof PackedJournal) {
    const packed = await journal.end();
    if (packed === null) await rm(page, { force: true });
    else await writePacked(page, { about, journal: packed, base: '' });
    return;
  }
  const size = journal === null ? Infinity : await sizeOf(journal);
  if (journal === null || size > MOST_BYTES) await rm(page, { force: true });
  else await writeTimeMachine(page, { about, journal: await readFile(journal), base: null });
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => Infinity,
  );
}
