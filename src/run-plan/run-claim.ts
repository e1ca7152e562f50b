/**
 * The claim of a process on the folder of a run or of a dataset, so that two runs or two imports
 * never mix their files. It is a file with the id of the process; a claim whose process has ended
 * is taken over.
 */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { FileError, fileError } from '../platform/file-error.ts';
import { realFolder } from '../platform/make-folder.ts';

const FILE = 'run.pid';
/** Time after which a claim without a process was left by a crash. */
const EMPTY_MS = 10_000;

/** Claims of this process. Its id alone proves nothing: in a container every run may have id 1. */
const own = new Set<string>();

export class RunClaim {
  private readonly file: string;
  private readonly onExit = (): void => {
    own.delete(this.file);
    rmSync(this.file, { force: true });
  };

  private constructor(file: string) {
    this.file = file;
    process.once('exit', this.onExit);
  }

  /** Throws `FileError` if the process of another run has the folder. */
  static take(folder: string): RunClaim {
    return RunClaim.takeFile(folder, resolve(folder, FILE), 'writing a run to it');
  }

  /** On a dataset, beside its folder, which an import replaces. Throws as `take`. */
  static takeDataset(folder: string): RunClaim {
    return RunClaim.takeFile(folder, `${realFolder(resolve(folder))}.pid`, 'importing into it');
  }

  private static takeFile(folder: string, file: string, doing: string): RunClaim {
    for (;;) {
      try {
        writeFileSync(file, `${String(process.pid)}\n`, { flag: 'wx' });
        own.add(file);
        return new RunClaim(file);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw fileError(folder, error);
      }
      const holder = holderOf(file);
      if (holder === null) continue;
      if (isRunning(file, holder)) {
        throw new FileError(
          `${folder}: process ${String(holder)} is ${doing}; wait for its end, or delete ${file} if that process is none of yours`,
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

function isRunning(file: string, holder: number): boolean {
  if (holder === process.pid) return own.has(file);
  if (!Number.isSafeInteger(holder) || holder <= 0) {
    const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
    return Date.now() - mtimeMs < EMPTY_MS;
  }
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
