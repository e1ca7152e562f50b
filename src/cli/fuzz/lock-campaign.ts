/** One campaign writes a folder at a time: another would mix its state and log with these. */
import { FolderLock } from '../../journal-files/folder-lock.ts';
import { FileError } from '../../platform/file-error.ts';
import { InputError } from '../cli-support.ts';

/** Holds the lock until the process ends. Where there are no locks, campaigns run without. */
export function lockCampaign(folder: string): void {
  let lock: FolderLock | null;
  try {
    lock = FolderLock.take(folder);
  } catch (error) {
    if (error instanceof FileError) return;
    throw error;
  }
  if (lock !== null) return;
  throw new InputError(`${folder}: another campaign writes to this folder`, {
    hint: 'name another one with --out',
  });
}
