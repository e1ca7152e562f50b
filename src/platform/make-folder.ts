import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { FileError, fileError } from './file-error.ts';

/** Makes a folder and those above it; one that is there stays as it is. Throws `FileError`. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await make(resolve(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new FileError(`${path}: no folder can be made here`);
    if (code === 'EEXIST') throw new FileError(`${path}: is there and is no folder`);
    throw fileError(path, error);
  }
}

/** One folder at a time: where a file system takes no folders (/proc), the platform's own recursion never ends. */
async function make(path: string): Promise<void> {
  const error = await madeOne(path);
  if (error === null) return;
  const above = dirname(path);
  if (error.code !== 'ENOENT' || above === path) throw error;
  await make(above);
  const again = await madeOne(path);
  if (again !== null) throw again;
}

async function madeOne(path: string): Promise<NodeJS.ErrnoException | null> {
  try {
    await mkdir(path);
    return null;
  } catch (error) {
    const isThere = await stat(path).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    return isThere ? null : (error as NodeJS.ErrnoException);
  }
}
