/**
 * The journal of a folder as one stream of frames across segments, from its start or from a
 * snapshot. Segments are read on demand, so a journal may exceed memory.
 */
import { statSync } from 'node:fs';
import type { JournalFrame } from '../journal/format/frame.ts';
import {
  JournalError,
  JournalReader,
  type JournalSource,
  type TornTail,
} from '../journal/format/frames.ts';
import type { JournalHeader, JournalPosition } from '../journal/format/header.ts';
import type { ReusedFrames } from '../journal/format/reused-frames.ts';
import { FileError, fileError } from '../platform/file-error.ts';
import { readRegularFile } from '../platform/regular-file.ts';
import { asSegment, listSegments, type Segment } from './segments.ts';
import { listSnapshots, readSnapshot } from './snapshots.ts';

/** Where the next frame begins. */
export interface JournalPlace {
  readonly segment: Segment;
  readonly offset: number;
  readonly size: number;
  /** Version of the rules by which the segment was written. */
  readonly semanticsVersion: number;
}

/** State before the first frame. */
export interface JournalBase {
  readonly seq: number;
  readonly engine: Uint8Array;
}

export class FolderJournal implements JournalSource {
  readonly header: JournalHeader;
  readonly base: Uint8Array | null;
  /** Command before the first frame. */
  readonly fromSeq: number;
  private readonly segments: readonly Segment[];
  private readonly untilSeq: number;
  private index: number;
  private reader: JournalReader;
  private doneBytes = 0;
  /** Offset of the last retried read. */
  private retriedAt = -1;

  /**
   * Frames after the base, up to the group with `untilSeq`, and the hashes at the base itself,
   * which a snapshot must have. Throws `FileError`, `JournalError`.
   */
  constructor(segments: readonly Segment[], base: JournalBase | null, untilSeq = Infinity) {
    this.segments = segments;
    this.base = base?.engine ?? null;
    this.fromSeq = base?.seq ?? 0;
    this.untilSeq = untilSeq;
    const later = segments.findIndex(({ afterSeq }) => afterSeq >= this.fromSeq);
    this.index = Math.max(0, (later < 0 ? segments.length : later) - 1);
    this.reader = this.open();
    this.header = this.reader.header;
    if (base !== null) this.reader.skipTo(base.seq - 1);
  }

  get lastRelease(): string | null {
    return this.reader.lastRelease;
  }
  get path(): string {
    return this.segment.path;
  }
  get position(): JournalPosition {
    return this.reader.position;
  }
  /** Current segment and byte offset. */
  get place(): JournalPlace {
    const { offset, size, header } = this.reader;
    return { segment: this.segment, offset, size, semanticsVersion: header.semanticsVersion };
  }
  /** The last frame in the bytes of a plain journal. */
  get frameBytes(): Uint8Array {
    return this.reader.frameBytes;
  }
  get ended(): boolean {
    return this.reader.ended;
  }
  get torn(): TornTail | null {
    return this.reader.torn;
  }
  get offset(): number {
    return this.doneBytes + this.reader.offset;
  }
  /** Bytes of the segments opened so far: a journal in use has no fixed end. */
  get size(): number {
    return this.doneBytes + this.reader.size;
  }

  /** Bytes of all files, including preallocated space of the last one. */
  get fileBytes(): number {
    return this.segments.reduce((sum, { path }) => sum + statSync(path).size, 0);
  }

  next(reused?: ReusedFrames): JournalFrame | null {
    for (;;) {
      const { reader } = this;
      if (reader.betweenGroups && reader.position.seq >= this.untilSeq) return null;
      const frame = this.nextOf(reader, reused);
      if (frame === 'again') continue;
      if (frame === null) {
        if (!this.openNext()) return null;
      } else if (frame.seq > this.fromSeq || this.base === null) return frame;
      else if (frame.seq === this.fromSeq && isHash(frame)) return frame;
    }
  }

  /** A group may look damaged while it is being written, so a failed read is retried once. */
  private nextOf(
    reader: JournalReader,
    reused: ReusedFrames | undefined,
  ): JournalFrame | null | 'again' {
    try {
      return this.named(() => reader.next(reused));
    } catch (error) {
      const isLast = this.index === this.segments.length - 1;
      if (!isLast || !(error instanceof JournalError) || this.retriedAt === reader.offset)
        throw error;
      this.retriedAt = reader.offset;
      const again = this.open();
      again.skipTo(reader.position.seq);
      // A damaged frame head on the way leads to another offset; yielded frames are not repeated.
      if (again.offset !== reader.offset) throw error;
      this.reader = again;
      return 'again';
    }
  }

  private get segment(): Segment {
    const segment = this.segments[this.index];
    if (segment === undefined) throw new JournalError('no journal in this folder');
    return segment;
  }

  private open(): JournalReader {
    const { path } = this.segment;
    const bytes = readRegularFile(path);
    return this.named(() => new JournalReader(bytes));
  }

  /** Opens the next segment; returns false if there is none. */
  private openNext(): boolean {
    const { torn, position, size, ended } = this.reader;
    if (this.index === this.segments.length - 1) return false;
    this.named(() => {
      if (ended) throw new JournalError('journal: ends before its last segment');
      if (torn === null) return;
      throw new JournalError(
        `journal at byte ${String(torn.offset)}, after command ${String(torn.afterSeq)}: ${torn.reason}, although a segment follows`,
      );
    });
    this.doneBytes += size;
    this.index += 1;
    this.reader = this.open();
    const { configHash, after } = this.reader.header;
    this.named(() => {
      if (configHash !== this.header.configHash) {
        throw new JournalError(
          'journal header: belongs to an exchange with a different configuration',
        );
      }
      if (after.seq === position.seq && after.timeUs === position.timeUs) return;
      throw new JournalError(
        `journal header: follows command ${String(after.seq)}, but the segment before ends with command ${String(position.seq)}`,
      );
    });
    return true;
  }

  /** Adds the file's name to errors. */
  private named<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      const { hint } = error;
      const details = hint === undefined ? {} : { hint };
      throw new JournalError(`${this.segment.path}: ${error.message}`, details);
    }
  }
}

const isHash = ({ kind }: JournalFrame): boolean => kind === 'chain' || kind === 'checkpoint';

/**
 * Opens a journal file or the folder of a served exchange. A compacted folder is read from the
 * oldest snapshot before its first command. Throws `FileError` if there is no journal.
 */
export function openJournal(path: string, untilSeq = Infinity): FolderJournal {
  if (typeof path !== 'string') {
    throw new FileError(`${String(path)}: must be the path of a journal or of a folder`);
  }
  const all = isFolder(path) ? listSegments(path) : [asSegment(path)];
  return new FolderJournal(all, startOfFolder(path, all).base, untilSeq);
}

interface FolderStart {
  /** Those with commands after the base. */
  readonly segments: readonly Segment[];
  readonly base: JournalBase | null;
  /** Name of the file of the base. */
  readonly snapshot: string | null;
}

/** Where the journal of a folder begins. Throws `FileError` without a journal or a usable base. */
export function startOfFolder(folder: string, segments: readonly Segment[]): FolderStart {
  const [first] = segments;
  if (first === undefined) throw new FileError(`${folder}: no journal is in this folder`);
  if (first.afterSeq <= 0) return { segments, base: null, snapshot: null };
  for (const { name, seq } of listSnapshots(folder).reverse()) {
    const base = seq < first.afterSeq ? null : readSnapshot(folder, name);
    if (base === null) continue;
    const from = segments.findLastIndex(({ afterSeq }) => afterSeq <= base.seq);
    return { segments: segments.slice(from), base, snapshot: name };
  }
  throw noSnapshotError(folder, segments);
}

/**
 * Error for a compacted journal without a snapshot of the state before its first command. Returns a
 * `JournalError` with the version if another release wrote the journal.
 */
export function noSnapshotError(
  folder: string,
  segments: readonly Segment[],
  passedOver: readonly string[] = [],
): FileError {
  const { after } = new FolderJournal(segments, null).header;
  return new FileError(
    `${folder}: the journal starts after command ${String(after.seq)}, and no snapshot has the state at that command` +
      passedOver.map((what) => `; ${what}`).join(''),
  );
}

/**
 * Like `openJournal`, but requires the first command. Throws `FileError` if it was compacted away.
 */
export function openWholeJournal(path: string, untilSeq = Infinity): FolderJournal {
  const journal = openJournal(path, untilSeq);
  if (journal.fromSeq === 0) return journal;
  throw new FileError(
    `${path}: was compacted and starts after command ${String(journal.fromSeq)}; a plain journal needs the first command (journal export --json lists the rest)`,
  );
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw fileError(path, error);
  }
}
