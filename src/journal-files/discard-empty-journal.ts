/**
 * Discards a journal without any complete frame, as left by a crash during the first write to a
 * folder. No request was answered before that write, so the folder counts as empty.
 */
import { rm } from 'node:fs/promises';
import { findWhole } from '../journal/format/frames.ts';
import { beginsLikeJournal, isHeaderWhole } from '../journal/format/header.ts';
import { FileError } from '../platform/file-error.ts';
import { readRegularFile } from '../platform/regular-file.ts';
import { listSegments, type Segment } from './segments.ts';
import { listSnapshots } from './snapshots.ts';

export interface EmptyJournal {
  /** True if no journal exists or none remains. */
  readonly isEmpty: boolean;
  /** Bytes of an interrupted first write. */
  readonly cutBytes: number;
}

/** A journal without a complete frame, and its bytes; null if there is none. */
export function findEmptyJournal(folder: string): { path: string; bytes: number } | null {
  const [first, second] = listSegments(folder);
  if (first === undefined || second !== undefined || first.afterSeq > 0) return null;
  if (listSnapshots(folder).length > 0) return null;
  const bytes = readRegularFile(first.path);
  return holdsSomething(first, bytes) ? null : { path: first.path, bytes: bytes.length };
}

/**
 * Removes a journal without a complete frame. Anything that may have been answered is kept. Throws
 * `FileError` if snapshots are there and no journal: a snapshot follows a journal, so it was lost.
 */
export async function discardEmptyJournal(folder: string): Promise<EmptyJournal> {
  if (listSegments(folder).length === 0) {
    const [newest] = listSnapshots(folder);
    if (newest === undefined) return { isEmpty: true, cutBytes: 0 };
    throw new FileError(
      `${folder}: has ${newest.name} but no journal; restore the journal from a copy, or move the snapshots away to begin a new exchange`,
    );
  }
  const empty = findEmptyJournal(folder);
  if (empty === null) return { isEmpty: false, cutBytes: 0 };
  await rm(empty.path);
  return { isEmpty: true, cutBytes: empty.bytes };
}

function holdsSomething({ plain }: Segment, bytes: Uint8Array): boolean {
  // A foreign file is rejected as not a journal, and is kept.
  if (!beginsLikeJournal(bytes) || findWhole(bytes, 0, !plain) !== null) return true;
  // A plain journal may have no frame yet; one of another version is rejected and kept.
  return plain && isHeaderWhole(bytes);
}
