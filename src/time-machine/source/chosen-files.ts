/**
 * Files that a reader chose, as a journal: one file, or those of the folder of a served exchange.
 * The journal of a compacted folder begins after a snapshot. Files of other names are left out.
 */
import { must } from '../../base/assert.ts';
import { sha256Hex } from '../../base/sha256.ts';
import { JournalReader } from '../../journal/format/frames.ts';
import { decodeSnapshotFile } from '../../journal/format/snapshot-file.ts';
import { TimelineError, type TimelineSource } from '../timeline.ts';
import type { JournalBytes } from './journal-bytes.ts';

export interface ChosenFile {
  readonly name: string;
  readonly bytes: JournalBytes;
}

const SNAPSHOT = /^snapshot-(\d{16})\.bin$/;
const SEGMENT = /^journal-\d{16}\.orrery$/;
const JOURNAL = /\.orrery$/;
/** Bytes of a header that is certainly complete. */
const MAX_HEADER = 1 << 20;

/** Throws `TimelineError` or `JournalError`, which say what to choose instead. */
export function sourceOfFiles(files: readonly ChosenFile[]): TimelineSource {
  const journals = journalsOf(files);
  const after = journals.map((file) => afterSeq(file));
  const first = must(after[0], 'a file was found');
  if (first === 0) return { parts: journals.map(({ bytes }) => bytes), base: null };
  const base = baseOf(files, first);
  // Segments before the snapshot need not be read.
  const from = after.findLastIndex((seq) => seq <= base.seq);
  return { parts: journals.slice(from).map(({ bytes }) => bytes), base: base.engine };
}

/** A plain journal precedes segments, which are named by their first commands. */
function journalsOf(files: readonly ChosenFile[]): readonly ChosenFile[] {
  const [only] = files;
  if (only === undefined) throw new TimelineError('no file was chosen');
  if (files.length === 1) {
    if (!SNAPSHOT.test(only.name)) return files;
    throw new TimelineError(
      `${only.name} is a snapshot: choose the files journal-….orrery of its folder, too`,
    );
  }
  const journals = files.filter(({ name }) => JOURNAL.test(name));
  if (journals.length === 0) {
    throw new TimelineError('none of these files is a journal: its name ends with .orrery');
  }
  const rank = (name: string): string => (SEGMENT.test(name) ? `1${name}` : `0${name}`);
  return journals.sort((a, b) => (rank(a.name) < rank(b.name) ? -1 : 1));
}

/** The command before the first one of a file. */
function afterSeq({ bytes }: ChosenFile): number {
  if (bytes.size === 0) throw new TimelineError('the journal is empty');
  return new JournalReader(bytes.read(0, Math.min(bytes.size, MAX_HEADER))).header.after.seq;
}

/** The state before a journal whose first commands were compacted: the oldest snapshot of it. */
function baseOf(files: readonly ChosenFile[], first: number): { seq: number; engine: Uint8Array } {
  const snapshots = files
    .filter(({ name }) => SNAPSHOT.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const unread: string[] = [];
  for (const { name, bytes } of snapshots) {
    const found = decodeSnapshotFile(bytes.read(0, bytes.size), sha256Hex);
    if (found !== null && found.seq >= first) return found;
    unread.push(
      found === null
        ? `${name} is damaged or of another release`
        : `${name} is of an earlier command`,
    );
  }
  const why =
    unread.length === 0 ? 'choose the files snapshot-….bin of its folder, too' : unread.join('; ');
  throw new TimelineError(
    `the journal starts after command ${String(first)}, and needs the state there: ${why}`,
  );
}
