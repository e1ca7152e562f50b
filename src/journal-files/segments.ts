/**
 * Files of a served exchange's journal. Segments are named by their first command and follow one
 * another without a gap. A plain journal, from `orrery journal export` or a run, may precede them.
 */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FileError, fileError } from '../platform/file-error.ts';

const PLAIN_NAME = 'journal.orrery';
const SEGMENT_NAME = /^journal-(\d{16})\.orrery$/;
/** Present while a backup is made: without it, the first segments would pass for the exchange. */
export const UNFINISHED_NAME = 'unfinished-backup';

export interface Segment {
  readonly name: string;
  readonly path: string;
  /** Last command before the segment's first. */
  readonly afterSeq: number;
  readonly plain: boolean;
}

export function segmentPath(folder: string, afterSeq: number): string {
  return join(folder, `journal-${String(afterSeq + 1).padStart(16, '0')}.orrery`);
}

/** A journal file on its own. */
export function asSegment(path: string): Segment {
  return { name: basename(path), path, afterSeq: -1, plain: true };
}

/** Segments in the order of commands. Throws `FileError`. */
export function listSegments(folder: string): Segment[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    throw fileError(folder, error);
  }
  if (names.includes(UNFINISHED_NAME)) {
    throw new FileError(
      `${folder}: is a backup that did not finish; delete this folder and make the backup again`,
    );
  }
  const segments: Segment[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const first = SEGMENT_NAME.exec(name)?.[1];
    if (first !== undefined) {
      segments.push({ name, path, afterSeq: Number(first) - 1, plain: false });
    } else if (name === PLAIN_NAME) segments.push(asSegment(path));
  }
  return segments.sort((a, b) => a.afterSeq - b.afterSeq);
}
