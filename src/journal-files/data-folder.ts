/** The folder of a served exchange, and its lock, since two writers would ruin both. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FileError, fileError } from '../platform/file-error.ts';
import { makeFolder } from '../platform/make-folder.ts';

/** What a crash leaves of files that were not whole yet. */
const PARTIAL = /\.partial(-\d+)?$/;

export class DataFolder {
  readonly path: string;
  private readonly lockPath: string;

  private constructor(path: string) {
    this.path = path;
    this.lockPath = join(path, 'lock');
  }

  /** Makes the folder at need and takes its lock. Throws `FileError` while another process has it. */
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
          `${this.path}: in use by process ${String(owner)}; one exchange writes a folder`,
        );
      }
      // Its process is gone: a crash left it.
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
