/** One process writes a folder at a time: another would mix its files with those of the first. */
import { FolderLock } from '../../journal-files/folder-lock.ts';
import { FileError } from '../../platform/file-error.ts';
import { InputError } from '../cli-support.ts';

/**
 * Holds the lock of a campaign or a search until the process ends, also by a signal. Throws
 * `InputError` if another process has it.
 */
export function lockCampaign(folder: string, what: 'campaign' | 'search' = 'campaign'): void {
  if (take(folder) !== 'taken') return;
  throw new InputError(`${folder}: another ${what} writes to this folder`, {
    hint: 'name another one with --out',
  });
}

/**
 * Locks the folder of a failure, which a campaign and a command that repeats its run may write to.
 * Returns the function that releases it. Throws `FileError` if another report is being written.
 */
export function lockFailure(folder: string): () => void {
  const lock = take(folder);
  if (lock === 'taken') {
    throw new FileError(
      `${folder}: another command writes to this folder; wait for its end, or name another one with --out`,
    );
  }
  return () => lock?.release();
}

/** Null where there are no locks: commands run without. */
function take(folder: string): FolderLock | 'taken' | null {
  try {
    return FolderLock.take(folder) ?? 'taken';
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}
