/**
 * Frames of a journal, read in blocks from one or more parts (segments) in order. A place in the
 * stream can be kept and read again from there, so that a seek decodes few frames.
 *
 * Errors are those of `JournalReader`: wrong files and corruption throw `JournalError`, a torn tail
 * of the last part ends the stream.
 */
import type { JournalFrame } from '../../journal/format/frame.ts';
import { JournalError, JournalReader, type TornTail } from '../../journal/format/frames.ts';
import type { JournalHeader, JournalPosition } from '../../journal/format/header.ts';
import { must } from '../../base/assert.ts';
import type { JournalBytes } from './journal-bytes.ts';

/** A place from which frames can be read: the frames before it end with `after`. */
export interface StreamPlace {
  readonly part: number;
  readonly offset: number;
  readonly after: JournalPosition;
}

/** As many as a seek reads, for most journals. */
const BLOCK = 1 << 17;
/** Bytes of a header that is certainly complete. */
const MAX_HEADER = 1 << 20;

export class FrameStream {
  /** Header of the first part. */
  readonly header: JournalHeader;
  private readonly parts: readonly JournalBytes[];
  private readonly blockBytes: number;
  private part: number;
  private partHeader: JournalHeader;
  /** Offset of the block in its part. */
  private blockAt: number;
  private blockEnd: number;
  private reader: JournalReader;
  private last: StreamPlace;
  private finished = false;
  private tail: TornTail | null = null;
  private sawEnd = false;

  /** `from`: a place of a stream over the same parts. Throws `JournalError`. */
  constructor(parts: readonly JournalBytes[], from?: StreamPlace, blockBytes = BLOCK) {
    this.parts = parts;
    this.blockBytes = blockBytes;
    const first = openPart(must(parts[0], 'a journal has a part'));
    this.header = first.header;
    this.part = from?.part ?? 0;
    const opened = this.part === 0 ? first : openPart(must(parts[this.part], 'the part exists'));
    this.partHeader = opened.header;
    this.last = from ?? { part: 0, offset: opened.end, after: opened.header.after };
    this.blockAt = this.last.offset;
    this.blockEnd = this.blockAt;
    this.reader = this.open(this.last, blockBytes);
  }

  /** A place at or before the next frame: in a segment the start of its group. */
  get place(): StreamPlace {
    return this.last;
  }
  /** Not null once the stream ended with an incomplete frame. */
  get torn(): TornTail | null {
    return this.tail;
  }
  /** True once the end frame was read. */
  get ended(): boolean {
    return this.sawEnd;
  }
  /** Bytes before the next frame, over all parts. */
  get offset(): number {
    let before = 0;
    for (let i = 0; i < this.part; i++) before += this.parts[i]?.size ?? 0;
    return before + this.blockAt + this.reader.offset;
  }

  /** The next frame; null at the end. Throws `JournalError`. */
  next(): JournalFrame | null {
    while (!this.finished) {
      const { reader } = this;
      if (!this.partHeader.grouped || reader.betweenGroups) {
        this.last = {
          part: this.part,
          offset: this.blockAt + reader.offset,
          after: reader.position,
        };
      }
      const frame = reader.next();
      if (frame !== null) {
        if (frame.kind === 'end') this.sawEnd = true;
        return frame;
      }
      this.refill();
    }
    return null;
  }

  /** Reads the next block, or a larger one if this block has no whole frame, or the next part. */
  private refill(): void {
    const { size } = must(this.parts[this.part], 'the part exists');
    const at = this.blockAt + this.reader.offset;
    if (this.blockEnd < size) {
      const length = this.blockEnd - this.blockAt;
      const isStuck = at === this.blockAt;
      const place = { part: this.part, offset: at, after: this.reader.position };
      this.reader = this.open(place, isStuck ? length * 4 : this.blockBytes);
      return;
    }
    if (this.part === this.parts.length - 1) {
      this.finished = true;
      this.tail = this.reader.torn;
      return;
    }
    if (this.reader.torn !== null) {
      throw new JournalError(
        `journal at byte ${String(at)} of part ${String(this.part + 1)}: ${this.reader.torn.reason}, although a part follows`,
      );
    }
    const { position } = this.reader;
    const next = openPart(must(this.parts[this.part + 1], 'the part exists'));
    const { configHash, after } = next.header;
    if (configHash !== this.header.configHash || after.seq !== position.seq) {
      throw new JournalError(
        `journal: part ${String(this.part + 2)} does not follow command ${String(position.seq)}`,
      );
    }
    this.part += 1;
    this.partHeader = next.header;
    this.reader = this.open({ part: this.part, offset: next.end, after }, this.blockBytes);
  }

  private open(place: StreamPlace, length: number): JournalReader {
    const bytes = must(this.parts[place.part], 'the part exists');
    this.blockAt = place.offset;
    this.blockEnd = Math.min(bytes.size, place.offset + length);
    return new JournalReader(bytes.read(this.blockAt, this.blockEnd), {
      header: this.partHeader,
      after: place.after,
      firstByte: this.blockAt,
    });
  }
}

interface OpenPart {
  readonly header: JournalHeader;
  /** Offset of the first frame. */
  readonly end: number;
}

/** Each seek opens a stream, and the headers stay the same. */
const openParts = new WeakMap<JournalBytes, OpenPart>();

function openPart(bytes: JournalBytes): OpenPart {
  const known = openParts.get(bytes);
  if (known !== undefined) return known;
  const { header, offset } = new JournalReader(bytes.read(0, Math.min(bytes.size, MAX_HEADER)));
  const opened = { header, end: offset };
  openParts.set(bytes, opened);
  return opened;
}
