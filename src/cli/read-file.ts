/** Reads a complete input file; throws errors for the user. */
import { readFile, stat } from 'node:fs/promises';
import { fileError } from '../platform/file-error.ts';
import { openWholeJournal } from '../journal-files/folder-journal.ts';
import { plainJournal } from '../journal-files/plain-journal.ts';

export async function readInput(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw fileError(path, error);
  }
}

/** Reads a complete journal into memory: a file, or the folder of a run or a served exchange. */
export async function readJournal(path: string): Promise<Uint8Array> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? Buffer.concat([...plainJournal(openWholeJournal(path))]) : readInput(path);
}
