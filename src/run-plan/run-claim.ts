/**
 * The claim of a process on a run folder, so that two runs never mix their files. It is a file with
 * the id of the process; a claim whose process has ended is taken over.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FileError } from '../platform/file-error.ts';

const FILE = 'run.pid';

export class RunClaim {
  private readonly file: string;
  private readonly onExit = (): void => {
    rmSync(this.file, { force: true });
  };

  private constructor(file: string) {
    this.file = file;
    process.once('exit', this.onExit);
  }

  /** Throws `FileError` if the process of another run has the folder. */
  static take(folder: string): RunClaim {
    const file = join(folder, FILE);
    for (;;) {
      try {
        writeFileSync(file, `${String(process.pid)}\n`, { flag: 'wx' });
        return new RunClaim(file);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = holderOf(file);
      if (holder === null) continue;
      if (isRunning(holder)) {
        throw new FileError(
          `${folder}: process ${String(holder)} is writing a run to it; wait for its end, or delete ${file} if that process is none of yours`,
        );
      }
      moveAside(file, holder);
    }
  }

  release(): void {
    process.off('exit', this.onExit);
    this.onExit();
  }
}

/** Null if the claim is gone. An empty file is a claim that its process is just writing. */
function holderOf(file: string): number | null {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function isRunning(holder: number): boolean {
  if (!Number.isSafeInteger(holder) || holder <= 0) return true;
  try {
    process.kill(holder, 0);
    return true;
  } catch (error) {
    // Processes of other users cannot be signalled.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Removes the claim of an ended process. Of several that try, one moves the file. */
function moveAside(file: string, holder: number): void {
  const aside = `${file}.${String(process.pid)}`;
  try {
    renameSync(file, aside);
    // Another process had taken the claim over in between.
    if (holderOf(aside) !== holder) renameSync(aside, file);
    else rmSync(aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
