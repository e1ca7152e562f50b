import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { FileError, fileError } from './file-error.ts';

/**
 * Creates a folder and its parents; an existing folder is left unchanged. Returns the created ones,
 * each behind its parent. Throws `FileError`.
 */
export async function makeFolder(path: string): Promise<readonly string[]> {
  try {
    return await make(resolve(path));
  } catch (error) {
    throw folderError(path, error);
  }
}

/** Removes the folders that `makeFolder` created and that are empty. */
export async function removeMade(made: readonly string[]): Promise<void> {
  for (const path of [...made].reverse()) await rmdir(path).catch(() => undefined);
}

/**
 * The folder that a symbolic link names, which need not exist yet, so that a rename does not
 * replace the link.
 */
export function realFolder(path: string): string {
  try {
    return lstatSync(path).isSymbolicLink() ? linkedFolder(path) : path;
  } catch {
    return path;
  }
}

function linkedFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return realFolder(resolve(realpathSync(dirname(path)), readlinkSync(path)));
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
async function make(path: string): Promise<string[]> {
  const first = await makeOne(path);
  if (Array.isArray(first)) return first;
  const above = dirname(path);
  if (first.code !== 'ENOENT' || above === path) throw first;
  const made = await make(above);
  const second = await makeOne(path);
  if (Array.isArray(second)) return [...made, ...second];
  await removeMade(made);
  throw second;
}

/** The folder if it was created, nothing if it exists, or the error. */
async function makeOne(path: string): Promise<string[] | NodeJS.ErrnoException> {
  try {
    await mkdir(path);
    return [path];
  } catch (error) {
    const isThere = await stat(path).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    return isThere ? [] : (error as NodeJS.ErrnoException);
  }
}
