/**
 * The journal's container (DESIGN §10): a header that binds it to a format, a semantics version and a configuration;
 * then frames `u32 length | u32 crc32(rest) | u8 kind | u64 seq | i64 timeUs | payload`, little-endian, `length` counting
 * the bytes after the checksum. Kinds: command, checkpoint (state hash), end, order ids (digests that clients know orders by).
 *
 * A reader yields only frames whose checksum holds and whose sequence follows. An incomplete last frame is a *torn
 * tail*, what a crash leaves; anything else that is wrong is corruption, a hard error with its place.
 */
import { ArchiveError, ArchiveReader, ArchiveWriter } from '../../base/archive.ts';
import type { Command } from '../../engine/commands.ts';
import { archiveConfig, configHash } from '../../engine/config-archive.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import { seq as seqOf, timeUs, type Seq, type TimeUs } from '../../num/units.ts';
import { ByteReader, BytesError, ByteWriter } from './bytes.ts';
import { decodeCommand, encodeCommand } from './codec.ts';
import { crc32 } from './crc32.ts';

/** "ORRERY" and a line ending pair that text-mode copying would break. */
const MAGIC = [0x4f, 0x52, 0x52, 0x45, 0x52, 0x59, 0x0d, 0x0a] as const;
export const FORMAT_VERSION = 1;
/** Changes only together with a golden hash: the same journal would mean something else. */
export const SEMANTICS_VERSION = 1;

const KIND_COMMAND = 1;
const KIND_CHECKPOINT = 2;
const KIND_END = 3;
const KIND_ORDER_IDS = 4;
const DIGEST_BYTES = 32;
const FRAME_HEAD = 8;
const FRAME_BODY_HEAD = 17;
/** No frame is larger: a venue's full book of a million levels stays below. */
const MAX_FRAME = 64 * 1024 * 1024;

export class JournalError extends Error {
  override readonly name = 'JournalError';
}

export type JournalFrame =
  | { readonly kind: 'command'; readonly seq: Seq; readonly command: Command }
  | {
      readonly kind: 'checkpoint';
      readonly seq: Seq;
      readonly timeUs: TimeUs;
      readonly stateHash: string;
    }
  | {
      readonly kind: 'end';
      readonly seq: Seq;
      readonly timeUs: TimeUs;
      readonly chainHash: string;
    }
  /** Digests of orders placed one after the other, by the command before. The engine does not know them. */
  | {
      readonly kind: 'orderIds';
      readonly seq: Seq;
      readonly timeUs: TimeUs;
      readonly firstId: number;
      /** 64 hex digits each. */
      readonly digests: readonly string[];
    };

/** Where a journal is read on from, or written on. */
export interface JournalPosition {
  /** Bytes before it. */
  readonly offset: number;
  readonly seq: Seq;
  readonly timeUs: TimeUs;
}

/** Writes a journal into memory; `take` hands out what was written since, for a file. */
export class JournalWriter {
  private readonly out = new ByteWriter();
  private handedOut = 0;

  /** Begins a journal; without a configuration, goes on with one whose header is elsewhere. */
  constructor(config: ExchangeConfig | null) {
    if (config === null) return;
    const archive = new ArchiveWriter();
    archive.int(FORMAT_VERSION);
    archive.int(SEMANTICS_VERSION);
    archive.text(configHash(config));
    archiveConfig(archive, config);
    const header = archive.bytes();
    for (const byte of MAGIC) this.out.u8(byte);
    this.out.u32(header.length);
    this.out.u32(crc32(header, 0, header.length));
    this.out.reserve(header.length);
    this.out.buffer.set(header, this.out.length);
    this.out.length += header.length;
  }

  append(seq: Seq, command: Command): void {
    const start = this.open(KIND_COMMAND, seq, command.timeUs);
    encodeCommand(this.out, command);
    this.close(start);
  }

  checkpoint(seq: Seq, atUs: TimeUs, stateHash: string): void {
    const start = this.open(KIND_CHECKPOINT, seq, atUs);
    this.out.text(stateHash);
    this.close(start);
  }

  orderIds(seq: Seq, atUs: TimeUs, firstId: number, digests: readonly string[]): void {
    const start = this.open(KIND_ORDER_IDS, seq, atUs);
    this.out.uint(firstId);
    this.out.uint(digests.length);
    for (const digest of digests) {
      for (let i = 0; i < DIGEST_BYTES; i++) {
        this.out.u8(Number.parseInt(digest.slice(2 * i, 2 * i + 2), 16));
      }
    }
    this.close(start);
  }

  /** The journal is complete. */
  end(seq: Seq, atUs: TimeUs, chainHash: string): void {
    const start = this.open(KIND_END, seq, atUs);
    this.out.text(chainHash);
    this.close(start);
  }

  /** The whole journal so far; a copy. */
  bytes(): Uint8Array {
    return this.out.bytes();
  }

  get size(): number {
    return this.out.length;
  }

  /** What was written since the last call; a copy. */
  take(): Uint8Array {
    const fresh = this.out.buffer.slice(this.handedOut, this.out.length);
    this.handedOut = this.out.length;
    return fresh;
  }

  /** What was written since the last call, which is then forgotten here: for journals longer than memory. */
  drain(): Uint8Array {
    const fresh = this.take();
    this.out.length = 0;
    this.handedOut = 0;
    return fresh;
  }

  private open(kind: number, seq: Seq, atUs: TimeUs): number {
    const start = this.out.length;
    this.out.u32(0);
    this.out.u32(0);
    this.out.u8(kind);
    this.out.u64(seq);
    this.out.u64(atUs);
    return start;
  }

  private close(start: number): void {
    const body = start + FRAME_HEAD;
    this.out.putU32(start, this.out.length - body);
    this.out.putU32(start + 4, crc32(this.out.buffer, body, this.out.length));
  }
}

export interface JournalHeader {
  readonly formatVersion: number;
  readonly semanticsVersion: number;
  readonly configHash: string;
  readonly config: ExchangeConfig;
}

/** An incomplete frame at the very end. */
export interface TornTail {
  readonly offset: number;
  readonly frame: number;
  readonly reason: string;
}

export class JournalReader {
  readonly header: JournalHeader;
  private readonly source: Uint8Array;
  private readonly reader: ByteReader;
  private at: number;
  private frameNumber = 0;
  private lastSeq = 0;
  private lastUs = 0;
  private complete = false;
  private tail: TornTail | null = null;

  /** Reads on from a position behind the header. Throws `JournalError` when this is no journal of this version. */
  constructor(source: Uint8Array, from: JournalPosition | null = null) {
    this.source = source;
    this.reader = new ByteReader(source);
    const { header, end } = readHeader(source);
    this.header = header;
    this.at = from?.offset ?? end;
    this.lastSeq = from?.seq ?? 0;
    this.lastUs = from?.timeUs ?? 0;
    if (this.at < end || this.at > source.length) {
      throw new JournalError(
        `journal: ends at byte ${String(source.length)}, before the position ${String(this.at)}`,
      );
    }
  }

  /** Bytes consumed so far. */
  get offset(): number {
    return this.at;
  }
  /** Whether the end frame was read. */
  get ended(): boolean {
    return this.complete;
  }
  get torn(): TornTail | null {
    return this.tail;
  }

  /** The next frame, or null at the end or at a torn tail. Throws `JournalError` on corruption. */
  next(): JournalFrame | null {
    if (this.tail !== null || this.at === this.source.length) return null;
    if (this.complete) this.fail('bytes after the end frame');
    const left = this.source.length - this.at;
    if (left < FRAME_HEAD) return this.tear(`${String(left)} of a frame head's 8 bytes`);
    this.reader.at = this.at;
    this.reader.end = this.source.length;
    const length = this.reader.u32();
    const checksum = this.reader.u32();
    if (length < FRAME_BODY_HEAD || length > MAX_FRAME) {
      return this.tear(`a frame length of ${String(length)} bytes`);
    }
    const body = this.at + FRAME_HEAD;
    const end = body + length;
    if (end > this.source.length) {
      return this.tear(`${String(this.source.length - body)} of ${String(length)} bytes`);
    }
    if (crc32(this.source, body, end) !== checksum) return this.tear('a wrong checksum');
    this.reader.end = end;
    const frame = this.parse();
    if (this.reader.at !== end) this.fail('a frame longer than its fields');
    this.at = end;
    this.frameNumber += 1;
    return frame;
  }

  private parse(): JournalFrame {
    try {
      const kind = this.reader.u8();
      const seq = seqOf(this.reader.u64());
      const atUs = timeUs(this.reader.u64());
      const expected = kind === KIND_COMMAND ? this.lastSeq + 1 : this.lastSeq;
      if (seq !== expected) {
        this.fail(`sequence number ${String(seq)} where ${String(expected)} follows`);
      }
      if (atUs < this.lastUs) this.fail(`time ${String(atUs)} before ${String(this.lastUs)}`);
      this.lastSeq = seq;
      this.lastUs = atUs;
      switch (kind) {
        case KIND_COMMAND:
          return { kind: 'command', seq, command: decodeCommand(this.reader, atUs) };
        case KIND_CHECKPOINT:
          return { kind: 'checkpoint', seq, timeUs: atUs, stateHash: this.reader.text() };
        case KIND_END:
          this.complete = true;
          return { kind: 'end', seq, timeUs: atUs, chainHash: this.reader.text() };
        case KIND_ORDER_IDS: {
          const firstId = this.reader.uint();
          const count = this.reader.uint();
          if (count * DIGEST_BYTES > this.reader.end - this.reader.at) {
            this.fail('more order ids than its frame has bytes');
          }
          const digests = Array.from({ length: count }, () => this.digest());
          return { kind: 'orderIds', seq, timeUs: atUs, firstId, digests };
        }
        default:
          return this.fail(`frame kind ${String(kind)} is not known to this version`);
      }
    } catch (error) {
      if (error instanceof BytesError || error instanceof ArchiveError) this.fail(error.message);
      throw error;
    }
  }

  private digest(): string {
    let text = '';
    for (let i = 0; i < DIGEST_BYTES; i++) text += this.reader.u8().toString(16).padStart(2, '0');
    return text;
  }

  /** A bad frame: torn when nothing whole comes after it, else corruption. */
  private tear(reason: string): null {
    const later = this.findWholeFrame();
    if (later !== null) {
      this.fail(`${reason}, although a whole frame follows at byte ${String(later)}`);
    }
    this.tail = { offset: this.at, frame: this.frameNumber + 1, reason };
    return null;
  }

  private findWholeFrame(): number | null {
    const { source } = this;
    const probe = new ByteReader(source);
    for (let at = this.at + 1; at + FRAME_HEAD + FRAME_BODY_HEAD <= source.length; at++) {
      probe.at = at;
      probe.end = source.length;
      const length = probe.u32();
      if (length < FRAME_BODY_HEAD || length > source.length - at - FRAME_HEAD) continue;
      const kind = source[at + FRAME_HEAD] ?? 0;
      if (kind < KIND_COMMAND || kind > KIND_ORDER_IDS) continue;
      const checksum = probe.u32();
      const body = at + FRAME_HEAD;
      if (crc32(source, body, body + length) === checksum) return at;
    }
    return null;
  }

  private fail(what: string): never {
    throw new JournalError(
      `journal frame ${String(this.frameNumber + 1)} at byte ${String(this.at)}: ${what}`,
    );
  }
}

function readHeader(source: Uint8Array): { header: JournalHeader; end: number } {
  const fixed = MAGIC.length + 8;
  for (let i = 0; i < MAGIC.length; i++) {
    if (source[i] !== MAGIC[i]) {
      throw new JournalError(`not a journal: byte ${String(i)} differs from the magic number`);
    }
  }
  if (source.length < fixed) throw new JournalError('journal header: ends early at byte 8');
  const reader = new ByteReader(source, MAGIC.length);
  const length = reader.u32();
  const checksum = reader.u32();
  const end = fixed + length;
  if (end > source.length) {
    throw new JournalError(
      `journal header: ${String(source.length - fixed)} of ${String(length)} bytes`,
    );
  }
  if (crc32(source, fixed, end) !== checksum) {
    throw new JournalError('journal header: a wrong checksum');
  }
  try {
    const archive = new ArchiveReader(source.subarray(fixed, end));
    const formatVersion = archive.int();
    const semanticsVersion = archive.int();
    checkVersion('format version', formatVersion, FORMAT_VERSION);
    checkVersion('semantics version', semanticsVersion, SEMANTICS_VERSION);
    const hash = archive.text();
    const config = archiveConfig(archive, null);
    archive.end();
    const actual = configHash(config);
    if (hash !== actual) {
      throw new JournalError(`journal header: config hash ${hash}, but its config is ${actual}`);
    }
    return { header: { formatVersion, semanticsVersion, configHash: hash, config }, end };
  } catch (error) {
    if (error instanceof ArchiveError) throw new JournalError(`journal header: ${error.message}`);
    throw error;
  }
}

function checkVersion(name: string, found: number, known: number): void {
  if (found === known) return;
  throw new JournalError(
    `journal header: ${name} ${String(found)}, this program reads ${String(known)}`,
  );
}
