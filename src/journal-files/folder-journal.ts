/**
 * The journal of a folder as one stream of frames, segment by segment, from its beginning or from a snapshot. It is read as it is needed, so
 * a journal may be longer than memory.
 */
import { readFileSync, statSync } from 'node:fs';
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
import { asSegment, listSegments, type Segment } from './segments.ts';
import { listSnapshots, readSnapshot } from './snapshots.ts';

/** State that the first frame follows. */
export interface JournalBase {
  readonly seq: number;
  readonly engine: Uint8Array;
}

export class FolderJournal implements JournalSource {
  readonly header: JournalHeader;
  readonly base: Uint8Array | null;
  /** The command that the first frame follows. */
  readonly fromSeq: number;
  private readonly segments: readonly Segment[];
  private readonly untilSeq: number;
  private index: number;
  private reader: JournalReader;
  private doneBytes = 0;
  /** Where the last segment was looked at again. */
  private twiceAt = -1;

  /**
   * Frames after the base's command, and no group beyond the one that holds `untilSeq`. Throws `FileError`, and `JournalError` naming
   * the file.
   */
  constructor(segments: readonly Segment[], base: JournalBase | null, untilSeq = Infinity) {
    this.segments = segments;
    this.base = base?.engine ?? null;
    this.fromSeq = base?.seq ?? 0;
    this.untilSeq = untilSeq;
    const later = segments.findIndex(({ afterSeq }) => afterSeq > this.fromSeq);
    this.index = Math.max(0, (later < 0 ? segments.length : later) - 1);
    this.reader = this.open();
    this.header = this.reader.header;
    if (base !== null) this.reader.skipTo(base.seq);
  }

  get position(): JournalPosition {
    return this.reader.position;
  }
  /** The segment that is being read, and the place in it. */
  get place(): { readonly segment: Segment; readonly offset: number; readonly size: number } {
    return { segment: this.segment, offset: this.reader.offset, size: this.reader.size };
  }
  /** The last frame as it stands in a plain journal. */
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
  /** Of what is open so far: a journal that is being written has no end. */
  get size(): number {
    return this.doneBytes + this.reader.size;
  }

  /** Of all files as they stand, the room of the last one included. */
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
    }
  }

  /** A group that is just being written may look damaged: it is looked at twice. */
  private nextOf(
    reader: JournalReader,
    reused: ReusedFrames | undefined,
  ): JournalFrame | null | 'again' {
    try {
      return this.named(() => reader.next(reused));
    } catch (error) {
      const isLast = this.index === this.segments.length - 1;
      if (!isLast || !(error instanceof JournalError) || this.twiceAt === reader.offset)
        throw error;
      this.twiceAt = reader.offset;
      const again = this.open();
      again.skipTo(reader.position.seq);
      // It stands elsewhere when a head on the way is damaged: what was told already is not told again.
      if (again.offset !== reader.offset) throw error;
      this.reader = again;
      return 'again';
    }
  }

  private get segment(): Segment {
    const segment = this.segments[this.index];
    if (segment === undefined) throw new JournalError('a folder without a journal');
    return segment;
  }

  private open(): JournalReader {
    const { path } = this.segment;
    let bytes: Uint8Array;
    try {
      bytes = readFileSync(path);
    } catch (error) {
      throw fileError(path, error);
    }
    return this.named(() => new JournalReader(bytes));
  }

  /** Goes on with the segment after this one; false when this is the last. */
  private openNext(): boolean {
    const { torn, position, size, ended } = this.reader;
    if (this.index === this.segments.length - 1) return false;
    this.named(() => {
      if (ended) throw new JournalError('journal: ends here, although a segment follows');
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
        throw new JournalError('journal header: of an exchange with another configuration');
      }
      if (after.seq === position.seq && after.timeUs === position.timeUs) return;
      throw new JournalError(
        `journal header: follows command ${String(after.seq)}, but the segment before ends with command ${String(position.seq)}`,
      );
    });
    return true;
  }

  /** Errors with the file's name. */
  private named<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      throw new JournalError(`${this.segment.path}: ${error.message}`);
    }
  }
}

/**
 * A journal by its path: a file, or the folder of a served exchange. A folder's is read from its beginning; when it was compacted, from the
 * oldest snapshot that reaches back far enough. Throws `FileError` when there is none.
 */
export function openJournal(path: string, untilSeq = Infinity): FolderJournal {
  const segments = isFolder(path) ? listSegments(path) : [asSegment(path)];
  const [first] = segments;
  if (first === undefined) throw new FileError(`${path}: no journal is in this folder`);
  if (first.afterSeq <= 0) return new FolderJournal(segments, null, untilSeq);
  for (const { name, seq } of listSnapshots(path).reverse()) {
    const snapshot = seq < first.afterSeq ? null : readSnapshot(path, name);
    if (snapshot !== null) return new FolderJournal(segments, snapshot, untilSeq);
  }
  throw noSnapshotError(path, segments);
}

/**
 * Why a compacted journal cannot be read: no snapshot holds the state that its first command follows. Throws `JournalError` when another
 * release wrote the journal: its version is then the reason.
 */
export function noSnapshotError(
  folder: string,
  segments: readonly Segment[],
  passedOver: readonly string[] = [],
): FileError {
  const { after } = new FolderJournal(segments, null).header;
  return new FileError(
    `${folder}: the journal goes on from command ${String(after.seq)}, and no snapshot holds what was before` +
      passedOver.map((what) => `; ${what}`).join(''),
  );
}

/** The same, for who needs its first command. Throws `FileError` when that was compacted away. */
export function openWholeJournal(path: string, untilSeq = Infinity): FolderJournal {
  const journal = openJournal(path, untilSeq);
  if (journal.fromSeq === 0) return journal;
  throw new FileError(
    `${path}: was compacted to what follows command ${String(journal.fromSeq)}; a plain journal begins with its first command (journal export --json lists the rest)`,
  );
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw fileError(path, error);
  }
}
