/**
 * Frames of the journal: `u32 length | u32 crc32(rest) | u8 kind | u64 seq | i64
 * timeUs | payload`, little-endian; `length` counts the bytes after the checksum. Kinds: command,
 * checkpoint (state hash), end, order ids (client-visible digests), chain (chain hash of the
 * serving exchange) and group.
 *
 * A plain journal is a header and frames. A segment (`header.ts`) has groups: a group is a frame
 * whose payload is the frames of one disk sync. Its seq and time are those of the position before
 * it. A group is valid as a whole or not at all.
 *
 * A reader yields only frames with a valid checksum and the next sequence number. An incomplete
 * last frame or group is a *torn tail*, left by a crash. Any other fault is corruption: an error
 * with its position. A frame is written only after the one before is durable, so a valid later
 * frame proves that an earlier one was complete.
 */
import { ArchiveError } from '../../base/archive.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import { seq as seqOf, timeUs, type Seq, type TimeUs } from '../../num/units.ts';
import { ByteReader, BytesError, ByteWriter } from './bytes.ts';
import { decodeCommand, encodeCommand } from './codec.ts';
import { crc32 } from '../../base/crc32.ts';
import { hexByte } from '../../base/hex.ts';
import { OrderIdsFrame, type JournalFrame } from './frame.ts';
import {
  BEGINNING,
  earlierRelease,
  headerBytes,
  readHeader,
  type JournalHeader,
  type JournalPosition,
} from './header.ts';
import { JournalError } from './journal-error.ts';
import type { ReusedFrames } from './reused-frames.ts';

export { JournalError } from './journal-error.ts';

export const KIND_COMMAND = 1;
const KIND_CHECKPOINT = 2;
const KIND_END = 3;
const KIND_ORDER_IDS = 4;
const KIND_GROUP = 5;
const KIND_CHAIN = 6;
const DIGEST_BYTES = 32;
/** Length and checksum; then kind, sequence number and time. */
export const FRAME_HEAD = 8;
export const FRAME_BODY_HEAD = 17;
/** Max frame size; a full book of a million levels fits. */
const MAX_FRAME = 64 * 1024 * 1024;
/** Size from which a group takes no further command. */
const FULL_GROUP = 16 * 1024 * 1024;
const MAX_GROUP = FULL_GROUP + 2 * MAX_FRAME;

/** Frames of one disk sync, as bytes. */
export interface JournalGroup {
  readonly bytes: Uint8Array;
  /** Position before the group, and its last command. */
  readonly after: JournalPosition;
  readonly last: JournalPosition;
}

/** Writes a journal into memory: as a whole, or group by group for a file. */
export class JournalWriter {
  private readonly out = new ByteWriter();

  /** Position before the pending frames, and position of the last of them. */
  private after: JournalPosition = BEGINNING;
  private lastSeq = BEGINNING.seq;
  private lastUs = BEGINNING.timeUs;
  /** Ends of groups that are full. */
  private readonly cuts: { readonly at: number; readonly last: JournalPosition }[] = [];

  /** Starts a journal, or continues one with its header elsewhere; grouped after a position. */
  constructor(begins: ExchangeConfig | JournalPosition | null) {
    if (begins === null) return;
    if ('seq' in begins) {
      this.after = begins;
      this.lastSeq = begins.seq;
      this.lastUs = begins.timeUs;
      return;
    }
    const header = headerBytes(begins, null);
    this.out.reserve(header.length);
    this.out.buffer.set(header, 0);
    this.out.length = header.length;
  }

  append(seq: Seq, command: Command): void {
    const begun = this.cuts.at(-1)?.at ?? 0;
    if (this.out.length - begun >= FULL_GROUP) {
      this.cuts.push({ at: this.out.length, last: this.last() });
    }
    const start = this.open(KIND_COMMAND, seq, command.timeUs);
    encodeCommand(this.out, command);
    this.close(start);
  }

  checkpoint(seq: Seq, atUs: TimeUs, stateHash: string): void {
    const start = this.open(KIND_CHECKPOINT, seq, atUs);
    this.out.text(stateHash);
    this.close(start);
  }

  chain(seq: Seq, atUs: TimeUs, chainHash: string): void {
    const start = this.open(KIND_CHAIN, seq, atUs);
    this.out.text(chainHash);
    this.close(start);
  }

  orderIds(seq: Seq, atUs: TimeUs, firstId: number, digests: readonly string[]): void {
    const start = this.open(KIND_ORDER_IDS, seq, atUs);
    this.out.uint(firstId);
    this.out.uint(digests.length);
    for (const digest of digests) {
      for (let i = 0; i < DIGEST_BYTES; i++) this.out.u8(hexByte(digest, 2 * i));
    }
    this.close(start);
  }

  /** Marks the journal as complete. */
  end(seq: Seq, atUs: TimeUs, chainHash: string): void {
    const start = this.open(KIND_END, seq, atUs);
    this.out.text(chainHash);
    this.close(start);
  }

  /** A copy of the whole journal so far. */
  bytes(): Uint8Array {
    return this.out.bytes();
  }

  /** Bytes in memory. */
  get size(): number {
    return this.out.length;
  }

  /** Returns and releases the bytes since the last call, for journals larger than memory. */
  drain(): Uint8Array {
    const bytes = this.out.bytes();
    this.out.length = 0;
    return bytes;
  }

  /** Returns and releases new frames as one group, or the first of several; null if none. */
  takeGroup(): JournalGroup | null {
    const { out, after } = this;
    if (out.length === 0) return null;
    const cut = this.cuts.shift();
    const end = cut?.at ?? out.length;
    const last = cut?.last ?? this.last();
    const bytes = groupBytes(after, out.buffer.subarray(0, end));
    out.buffer.copyWithin(0, end, out.length);
    out.length -= end;
    for (const [i, later] of this.cuts.entries()) this.cuts[i] = { ...later, at: later.at - end };
    this.after = last;
    return { bytes, after, last };
  }

  private open(kind: number, seq: Seq, atUs: TimeUs): number {
    const { out } = this;
    out.reserve(FRAME_HEAD + FRAME_BODY_HEAD);
    const start = out.length;
    // Length and checksum are written when the frame is closed.
    out.length = start + FRAME_HEAD;
    out.u8(kind);
    out.u64(seq);
    out.u64(atUs);
    this.lastSeq = seq;
    this.lastUs = atUs;
    return start;
  }

  /** Position of the last frame. */
  private last(): JournalPosition {
    return { seq: this.lastSeq, timeUs: this.lastUs };
  }

  private close(start: number): void {
    const body = start + FRAME_HEAD;
    this.out.putU32(start, this.out.length - body);
    this.out.putU32(start + 4, crc32(this.out.view, body, this.out.length));
  }
}

/** Frames under one checksum, after the position before them. */
function groupBytes(after: JournalPosition, frames: Uint8Array): Uint8Array {
  const head = FRAME_HEAD + FRAME_BODY_HEAD;
  const group = new ByteWriter(head + frames.length);
  group.u32(FRAME_BODY_HEAD + frames.length);
  group.u32(0);
  group.u8(KIND_GROUP);
  group.u64(after.seq);
  group.u64(after.timeUs);
  group.buffer.set(frames, head);
  group.length += frames.length;
  group.putU32(4, crc32(group.view, FRAME_HEAD, group.length));
  return group.buffer;
}

/** An incomplete frame or group at the very end. */
export interface TornTail {
  readonly offset: number;
  /** Bytes up to the last non-zero byte. */
  readonly bytes: number;
  /** Last command before the torn tail. */
  readonly afterSeq: number;
  readonly reason: string;
}

/** A readable journal, independent of its storage. */
export interface JournalSource {
  readonly header: JournalHeader;
  /** File of the last frame, if this journal is read from files. */
  readonly path?: string;
  /** Release by whose rules the last frame was written; null for the present rules. */
  readonly lastRelease: string | null;
  /** State before the first command; null for the genesis state of the configuration. */
  readonly base: Uint8Array | null;
  /** The next frame; null at the end or a torn tail. `reused`: frames for orders and cancels. */
  next(reused?: ReusedFrames): JournalFrame | null;
  /** True if the end frame was read. */
  readonly ended: boolean;
  readonly torn: TornTail | null;
  /** Bytes consumed, of `size`. */
  readonly offset: number;
  readonly size: number;
}

/** Frames from the middle of a journal: what is known of the bytes before them. */
export interface JournalPart {
  readonly header: JournalHeader;
  /** Position before the first frame, which begins a group in a segment. */
  readonly after: JournalPosition;
  /** Offset in the journal, for errors. */
  readonly firstByte: number;
}

export class JournalReader implements JournalSource {
  readonly header: JournalHeader;
  readonly base = null;
  private readonly source: Uint8Array;
  private readonly firstByte: number;
  private readonly reader: ByteReader;
  private at: number;
  /** Start of the last frame. */
  private begun: number;
  /** End of the current group. */
  private groupEnd: number;
  private lastSeq: number;
  private lastUs: number;
  private complete = false;
  private atEnd = false;
  private tail: TornTail | null = null;

  /** `part`: these bytes are frames of a journal without its header. Throws `JournalError`. */
  constructor(source: Uint8Array, part?: JournalPart) {
    this.source = source;
    this.reader = new ByteReader(source);
    const { header, end } =
      part === undefined ? readHeader(source) : { header: part.header, end: 0 };
    this.header = header;
    this.firstByte = part?.firstByte ?? 0;
    this.at = end;
    this.begun = end;
    this.groupEnd = end;
    const after = part?.after ?? header.after;
    this.lastSeq = after.seq;
    this.lastUs = after.timeUs;
  }

  get lastRelease(): string | null {
    return earlierRelease(this.header);
  }
  get offset(): number {
    return this.at;
  }
  get size(): number {
    return this.source.length;
  }
  get ended(): boolean {
    return this.complete;
  }
  get torn(): TornTail | null {
    return this.tail;
  }
  get position(): JournalPosition {
    return { seq: seqOf(this.lastSeq), timeUs: timeUs(this.lastUs) };
  }
  /** The last frame in the bytes of a plain journal. */
  get frameBytes(): Uint8Array {
    return this.source.subarray(this.begun, this.at);
  }
  /** True at the end of a group; in a plain journal, only at its end. */
  get betweenGroups(): boolean {
    return this.header.grouped ? this.at === this.groupEnd : this.at === this.source.length;
  }

  /**
   * Skips command frames up to this one by their heads; frames of the last group may still follow.
   */
  skipTo(seq: number): void {
    for (;;) {
      const head = this.headAt(this.at);
      if (head === null || head.kind === KIND_END) return;
      const passed = this.header.grouped ? this.headAt(head.end) : head;
      if (passed === null || passed.seq > seq) return;
      this.at = head.end;
      this.groupEnd = head.end;
      this.lastSeq = passed.seq;
      this.lastUs = passed.timeUs;
    }
  }

  next(reused?: ReusedFrames): JournalFrame | null {
    if (this.tail !== null || this.atEnd) return null;
    const { grouped } = this.header;
    while (grouped && this.at === this.groupEnd) if (!this.openGroup()) return null;
    if (!grouped && this.at === this.source.length) return null;
    if (this.complete) this.fail('bytes after the end frame');
    const limit = grouped ? this.groupEnd : this.source.length;
    const end = this.wholeFrame(limit, MAX_FRAME);
    if (typeof end === 'string') return grouped ? this.fail(end) : this.tear(end);
    this.reader.end = end;
    this.begun = this.at;
    const frame = this.parse(reused);
    if (this.reader.at !== end) this.fail('a frame longer than its fields');
    this.at = end;
    return frame;
  }

  private openGroup(): boolean {
    if (isZero(this.source, this.at)) {
      this.atEnd = true;
      return false;
    }
    const end = this.wholeFrame(this.source.length, MAX_GROUP);
    if (typeof end === 'string') {
      this.tear(end);
      return false;
    }
    const head = this.headAt(this.at);
    if (head?.kind !== KIND_GROUP) return this.fail('a frame outside of a group');
    if (head.seq !== this.lastSeq || head.timeUs !== this.lastUs) {
      this.fail(`a group that follows command ${String(head.seq)}`);
    }
    this.at += FRAME_HEAD + FRAME_BODY_HEAD;
    this.groupEnd = end;
    return true;
  }

  /** End of the frame at the current offset, or why it is incomplete; then reads its fields. */
  private wholeFrame(limit: number, max: number): number | string {
    const { reader, at } = this;
    const left = limit - at;
    if (left < FRAME_HEAD) return `${String(left)} of a frame head's 8 bytes`;
    reader.at = at;
    reader.end = limit;
    const length = reader.u32();
    const checksum = reader.i32();
    if (length < FRAME_BODY_HEAD || length > max) {
      return `a frame length of ${String(length)} bytes`;
    }
    const body = at + FRAME_HEAD;
    const end = body + length;
    if (end > limit) return `${String(limit - body)} of ${String(length)} bytes`;
    return crc32(this.reader.view, body, end) === checksum ? end : 'a wrong checksum';
  }

  /** Frame head at an offset; null if it cannot be one. */
  private headAt(at: number) {
    const { source } = this;
    if (at + FRAME_HEAD + FRAME_BODY_HEAD > source.length) return null;
    const probe = new ByteReader(source, at);
    const end = at + FRAME_HEAD + probe.u32();
    if (end < at + FRAME_HEAD + FRAME_BODY_HEAD || end > source.length) return null;
    probe.at = at + FRAME_HEAD;
    try {
      const kind = probe.u8();
      return { end, kind, seq: probe.u64(), timeUs: probe.u64() };
    } catch (error) {
      if (error instanceof BytesError) return null;
      throw error;
    }
  }

  private parse(reused: ReusedFrames | undefined): JournalFrame {
    try {
      // The frame is at least as long as its head.
      const { reader } = this;
      const head = this.at + FRAME_HEAD;
      const kind = this.source[head] ?? 0;
      const seq = seqOf(reader.u64At(head + 1));
      const atUs = timeUs(reader.u64At(head + 9));
      reader.at = head + FRAME_BODY_HEAD;
      const expected = kind === KIND_COMMAND ? this.lastSeq + 1 : this.lastSeq;
      if (seq !== expected) {
        this.fail(`sequence number ${String(seq)} where ${String(expected)} follows`);
      }
      if (atUs < this.lastUs) this.fail(`time ${String(atUs)} before ${String(this.lastUs)}`);
      // Before the first command, a hash has the time at which the exchange begins.
      if (kind !== KIND_COMMAND && atUs !== this.lastUs && seq > 0) {
        this.fail(`time ${String(atUs)} where ${String(this.lastUs)} is repeated`);
      }
      this.lastSeq = seq;
      this.lastUs = atUs;
      switch (kind) {
        case KIND_COMMAND:
          return reused === undefined
            ? { kind: 'command', seq, command: decodeCommand(reader, atUs) }
            : reused.read(reader, seq, atUs);
        case KIND_CHECKPOINT:
          return { kind: 'checkpoint', seq, timeUs: atUs, stateHash: this.reader.text() };
        case KIND_CHAIN:
          return { kind: 'chain', seq, timeUs: atUs, chainHash: this.reader.text() };
        case KIND_END:
          this.complete = true;
          return { kind: 'end', seq, timeUs: atUs, chainHash: this.reader.text() };
        case KIND_ORDER_IDS:
          return this.orderIds(seq, atUs);
        default:
          return this.fail(`frame kind ${String(kind)} is not known to this version`);
      }
    } catch (error) {
      if (error instanceof BytesError || error instanceof ArchiveError) this.fail(error.message);
      throw error;
    }
  }

  private orderIds(seq: Seq, atUs: TimeUs): OrderIdsFrame {
    const { reader } = this;
    const firstId = reader.uint();
    const length = reader.uint() * DIGEST_BYTES;
    if (length > reader.end - reader.at) this.fail('more order ids than its frame has bytes');
    const from = reader.at;
    reader.at += length;
    return new OrderIdsFrame(seq, atUs, firstId, this.source.subarray(from, reader.at));
  }

  /** A bad frame or group: a torn tail if nothing valid follows, otherwise corruption. */
  private tear(reason: string): null {
    const later = findWhole(this.source, this.at + 1, this.header.grouped);
    if (later !== null) {
      const what = this.header.grouped ? 'group' : 'frame';
      this.fail(
        `${reason}, although a whole ${what} follows at byte ${String(this.firstByte + later)}`,
      );
    }
    let end = this.source.length;
    while (end > this.at && this.source[end - 1] === 0) end -= 1;
    const offset = this.firstByte + this.at;
    this.tail = { offset, bytes: end - this.at, afterSeq: this.lastSeq, reason };
    return null;
  }

  private fail(what: string): never {
    throw new JournalError(
      `journal at byte ${String(this.firstByte + this.at)}, after command ${String(this.lastSeq)}: ${what}`,
    );
  }
}

/** Offset of the first valid frame from a byte on; in a segment only a group proves a sync. */
export function findWhole(source: Uint8Array, from: number, grouped: boolean): number | null {
  const probe = new ByteReader(source);
  for (let at = from; at + FRAME_HEAD + FRAME_BODY_HEAD <= source.length; at++) {
    const kind = source[at + FRAME_HEAD] ?? 0;
    const isKind = grouped ? kind === KIND_GROUP : kind >= KIND_COMMAND && kind <= KIND_CHAIN;
    if (!isKind) continue;
    probe.at = at;
    const length = probe.u32();
    if (length < FRAME_BODY_HEAD || length > source.length - at - FRAME_HEAD) continue;
    const body = at + FRAME_HEAD;
    if (crc32(probe.view, body, body + length) === probe.i32()) return at;
  }
  return null;
}

/** True if only zeros follow; reads aligned words of four bytes. */
function isZero(source: Uint8Array, from: number): boolean {
  const { buffer, byteOffset, length } = source;
  const aligned = Math.min(length, from + ((4 - ((byteOffset + from) % 4)) % 4));
  for (let at = from; at < aligned; at++) if (source[at] !== 0) return false;
  const count = (length - aligned) >>> 2;
  if (count > 0) {
    const words = new Int32Array(buffer, byteOffset + aligned, count);
    for (const word of words) if (word !== 0) return false;
  }
  for (let at = aligned + 4 * count; at < length; at++) if (source[at] !== 0) return false;
  return true;
}
