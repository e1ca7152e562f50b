import { lstatSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { FileError, fileError } from './file-error.ts';

/** Creates a folder and its parents; an existing folder is left unchanged. Throws `FileError`. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await make(resolve(path));
  } catch (error) {
    throw folderError(path, error);
  }
}

/** The folder that a symbolic link names, so that a rename does not replace the link. */
export function realFolder(path: string): string {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
  } catch {
    return path;
  }
}

/** Creates a folder with a name of its own beside `path`; returns it. Throws `FileError`. */
export async function makeFolderBeside(path: string, prefix: string): Promise<string> {
  const parent = dirname(resolve(path));
  await makeFolder(parent);
  try {
    return await mkdtemp(join(parent, prefix));
  } catch (error) {
    throw folderError(path, error);
  }
}

function folderError(path: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new FileError(`${path}: cannot create a folder here`);
  if (code === 'EEXIST') return new FileError(`${path}: exists and is not a folder`);
  return fileError(path, error);
}

/** One folder per call: in /proc, which has none, Node's recursive mode never returns. */
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
