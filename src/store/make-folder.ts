import { mkdir } from 'node:fs/promises';
import { fileError } from './file-error.ts';

/** Makes a folder and those above it; one that is there stays as it is. Throws `FileError`. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw fileError(path, error);
  }
}
