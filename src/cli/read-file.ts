/** Reads a whole input file, with its faults in words. */
import { readFile } from 'node:fs/promises';
import { fileError } from '../store/file-error.ts';

export async function readInput(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw fileError(path, error);
  }
}
