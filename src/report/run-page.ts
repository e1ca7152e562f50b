/** The time machine in the folder of a run, to which the fills of its report link. */
import { readFile, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { NO_ABOUT } from '../design/page-elements.ts';
import { writeTimeMachine } from './time-machine-page.ts';
import { TIME_MACHINE } from './write.ts';

/** Larger journals are opened by `orrery inspect`, or as a file that the page reads in ranges. */
const MOST_BYTES = 32 << 20;

/** Writes the page if the run kept a journal of moderate size; removes that of an earlier run. */
export async function writeRunPage(folder: string, journal: string | null): Promise<void> {
  const page = join(folder, TIME_MACHINE);
  const size =
    journal === null
      ? Infinity
      : await stat(journal).then(
          (file) => file.size,
          () => Infinity,
        );
  if (journal === null || size > MOST_BYTES) {
    await rm(page, { force: true });
    return;
  }
  const about = { ...NO_ABOUT, name: basename(resolve(folder)) };
  await writeTimeMachine(page, { about, journal: await readFile(journal), base: null });
}
