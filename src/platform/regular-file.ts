/** Reads regular files only: a read of a named pipe waits for its writer, which may never come. */
import { readFileSync, statSync } from 'node:fs';
import { FileError, fileError } from './file-error.ts';

/** Symbolic links are followed. Throws `FileError`. */
export function readRegularFile(path: string): Uint8Array {
  try {
    const stat = statSync(path);
    if (!stat.isFile() && !stat.isDirectory())
      throw new FileError(`${path}: is not a regular file`);
    return readFileSync(path);
  } catch (error) {
    throw fileError(path, error);
  }
}
