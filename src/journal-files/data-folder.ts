/** Folder of a served exchange and its lock; two writers would corrupt both. */
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { FileError, fileError, isOutOfSpace } from '../platform/file-error.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { FolderLock, type LockOptions } from './folder-lock.ts';
import { syncFolder } from './snapshots.ts';

/** Incomplete files that a crash leaves. */
const PARTIAL = /\.partial(-\d+)*$/;
/** Names the holder of the lock for messages; it locks nothing. */
const HOLDER = 'lock';

export class DataFolder {
  readonly path: string;
  private readonly held: FolderLock;

  private constructor(path: string, held: FolderLock) {
    this.path = path;
    this.held = held;
  }

  /** Creates and locks the folder. Throws `FileError` if another process has the lock. */
  static async open(path: string, options: LockOptions = {}): Promise<DataFolder> {
    await makeDurableFolder(path);
    const held = FolderLock.take(path, options);
    if (held === null) throw new FileError(await inUse(path));
    try {
      for (const name of await readdir(path)) {
        if (PARTIAL.test(name)) await rm(join(path, name), { force: true });
      }
      await nameHolder(path);
    } catch (error) {
      held.release();
      throw fileError(path, error);
    }
    return new DataFolder(path, held);
  }

  async unlock(): Promise<void> {
    await rm(join(this.path, HOLDER), { force: true });
    this.held.release();
  }

  /** Frees the lock as the end of the process does; for tests of crashes. */
  abandon(): void {
    this.held.release();
  }
}

/**
 * Like `makeFolder`, for this user alone: the journal has the secret of price sampling. The created
 * folders outlive the end of the power.
 */
export async function makeDurableFolder(path: string): Promise<readonly string[]> {
  const made = await makeFolder(path);
  // Some file systems have no modes.
  if (made.length > 0) await chmod(path, 0o700).catch(() => undefined);
  for (const folder of made) await syncFolder(dirname(folder));
  return made;
}

/** A full disk, from which an exchange is read, has no space for the name. */
async function nameHolder(path: string): Promise<void> {
  try {
    await writeFile(join(path, HOLDER), `${String(process.pid)} on ${hostname()}\n`);
  } catch (error) {
    if (!isOutOfSpace(error)) throw error;
  }
}

async function inUse(path: string): Promise<string> {
  const holder = (await readFile(join(path, HOLDER), 'utf8').catch(() => '')).trim();
  const process = holder === '' ? 'another process' : `process ${holder}`;
  return `${path}: in use by ${process}; only one exchange can write to a folder`;
}
