/** Reads a whole input file, with its faults in words. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { JOURNAL_NAME } from '../store/data-folder.ts';
import { fileError } from '../store/file-error.ts';

export async function readInput(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw fileError(path, error);
  }
}

/** A journal: a file, or the folder of a run or a served exchange. */
export async function readJournal(path: string): Promise<Uint8Array> {
  return readInput(await journalFile(path));
}

async function journalFile(path: string): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? join(path, JOURNAL_NAME) : path;
}
