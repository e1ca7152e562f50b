/** Folder of a served exchange and its lock; two writers would corrupt both. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FileError, fileError } from '../platform/file-error.ts';
import { makeFolder } from '../platform/make-folder.ts';

/** Incomplete files that a crash leaves. */
const PARTIAL = /\.partial(-\d+)?$/;

export class DataFolder {
  readonly path: string;
  private readonly lockPath: string;

  private constructor(path: string) {
    this.path = path;
    this.lockPath = join(path, 'lock');
  }

  /** Creates and locks the folder. Throws `FileError` if another process has the lock. */
  static async open(path: string): Promise<DataFolder> {
    const folder = new DataFolder(path);
    await makeFolder(path);
    await folder.lock();
    for (const name of await readdir(path)) {
      if (PARTIAL.test(name)) await rm(join(path, name), { force: true });
    }
    return folder;
  }

  private async lock(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        await writeFile(this.lockPath, `${String(process.pid)}\n`, { flag: 'wx' });
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
          throw fileError(this.lockPath, error);
        }
      }
      const owner = Number((await readFile(this.lockPath, 'utf8').catch(() => '')).trim());
      if (attempt > 2 || isAlive(owner)) {
        throw new FileError(
          `${this.path}: in use by process ${String(owner)}; only one exchange can write to a folder`,
        );
      }
      // The owner process no longer exists: a crash left the lock.
      await rm(this.lockPath, { force: true });
    }
  }

  async unlock(): Promise<void> {
    await rm(this.lockPath, { force: true });
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
