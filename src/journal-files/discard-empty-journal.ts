/**
 * A crash inside the very first write of a folder leaves a journal without anything whole in it. Nobody was answered then, so the folder
 * is as good as empty.
 */
import { readFile, rm } from 'node:fs/promises';
import { findWhole } from '../journal/format/frames.ts';
import { beginsLikeJournal, isHeaderWhole } from '../journal/format/header.ts';
import { fileError } from '../platform/file-error.ts';
import { listSegments, type Segment } from './segments.ts';
import { listSnapshots } from './snapshots.ts';

export interface EmptyJournal {
  /** Whether no journal is there, or none is left. */
  readonly isEmpty: boolean;
  /** Bytes of a first write that was cut short. */
  readonly cutBytes: number;
}

/** Removes a journal that holds nothing whole. Anything that may have been answered stays. */
export async function discardEmptyJournal(folder: string): Promise<EmptyJournal> {
  const [first, second] = listSegments(folder);
  if (first === undefined) return { isEmpty: true, cutBytes: 0 };
  const isOnly = second === undefined && first.afterSeq <= 0 && listSnapshots(folder).length === 0;
  if (!isOnly) return { isEmpty: false, cutBytes: 0 };
  const bytes = await readFile(first.path).catch((error: unknown) => {
    throw fileError(first.path, error);
  });
  if (holdsSomething(first, bytes)) return { isEmpty: false, cutBytes: 0 };
  await rm(first.path);
  return { isEmpty: true, cutBytes: bytes.length };
}

function holdsSomething({ plain }: Segment, bytes: Uint8Array): boolean {
  // A file of someone else's is refused as no journal, not removed.
  if (!beginsLikeJournal(bytes) || findWhole(bytes, 0, !plain) !== null) return true;
  // A plain journal may have no frame yet; one of another version is refused, not removed.
  return plain && isHeaderWhole(bytes);
}
