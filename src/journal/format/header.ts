/**
 * Header of a journal: binds it to a format, a semantics version and a configuration.
 *
 * Format 1 is plain: frames until the end of the file. Format 2 is a segment of a served exchange's
 * journal: groups of frames (`frames.ts`) in a preallocated file padded with zeros. Its header
 * names the command before its first.
 */
import { ArchiveError, ArchiveReader, ArchiveWriter } from '../../base/archive.ts';
import { archiveConfig, configHash } from '../../engine/snapshot/config-archive.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import { seq, timeUs, type Seq, type TimeUs } from '../../num/units.ts';
import { ByteReader, ByteWriter } from './bytes.ts';
import { crc32 } from '../../base/crc32.ts';
import { JournalError } from './journal-error.ts';

/** "ORRERY" and line endings that a text-mode copy would corrupt. */
const MAGIC = [0x4f, 0x52, 0x52, 0x45, 0x52, 0x59, 0x0d, 0x0a] as const;
/** Size of magic, length and checksum. */
const FIXED = MAGIC.length + 8;
const PLAIN = 1;
const GROUPED = 2;
/** Rises when rules change: the same journal may then yield another state. */
export const SEMANTICS_VERSION = 3;
/** The oldest version that is replayed; hashes of a journal show whether its state is the same. */
const OLDEST_REPLAYED = 2;
/** Last releases that replay all journals of earlier semantics versions. */
const RELEASES: Readonly<Record<number, string>> = { 1: '0.1', 2: '0.2' };

/** A position between two commands: the last one before it, and its time. */
export interface JournalPosition {
  readonly seq: Seq;
  readonly timeUs: TimeUs;
}

export const BEGINNING: JournalPosition = { seq: seq(0), timeUs: timeUs(0) };

export interface JournalHeader {
  readonly formatVersion: number;
  readonly semanticsVersion: number;
  readonly configHash: string;
  readonly config: ExchangeConfig;
  /** True if frames are in groups. */
  readonly grouped: boolean;
  /** Position before the first frame. */
  readonly after: JournalPosition;
}

/** Header of a plain journal, or of a segment after a position. A copy keeps its version. */
export function headerBytes(
  config: ExchangeConfig,
  after: JournalPosition | null,
  semanticsVersion = SEMANTICS_VERSION,
): Uint8Array {
  const archive = new ArchiveWriter();
  archive.int(after === null ? PLAIN : GROUPED);
  archive.int(semanticsVersion);
  archive.text(configHash(config));
  archiveConfig(archive, config);
  if (after !== null) {
    archive.int(after.seq);
    archive.int(after.timeUs);
  }
  const body = archive.bytes();
  const out = new ByteWriter(FIXED + body.length);
  for (const byte of MAGIC) out.u8(byte);
  out.u32(body.length);
  out.u32(crc32(new DataView(body.buffer, body.byteOffset, body.length), 0, body.length));
  out.buffer.set(body, out.length);
  out.length += body.length;
  return out.bytes();
}

/** True if these bytes start a journal, or are a torn write of its header. */
export function beginsLikeJournal(source: Uint8Array): boolean {
  return MAGIC.every((byte, i) => source[i] === byte || (source[i] ?? 0) === 0);
}

/** Size of the header with which these bytes begin; 0 without one. */
export function headerSize(source: Uint8Array): number {
  if (source.length < FIXED || !MAGIC.every((byte, i) => source[i] === byte)) return 0;
  return FIXED + new ByteReader(source, MAGIC.length).u32();
}

/** True if a complete header of any version is here. */
export function isHeaderWhole(source: Uint8Array): boolean {
  try {
    headerEnd(source);
    return true;
  } catch (error) {
    if (error instanceof JournalError) return false;
    throw error;
  }
}

/** The header and the offset after it. Throws `JournalError` if the journal is unreadable. */
export function readHeader(source: Uint8Array): { header: JournalHeader; end: number } {
  const end = headerEnd(source);
  try {
    return { header: readFields(source.subarray(FIXED, end)), end };
  } catch (error) {
    if (error instanceof ArchiveError) throw new JournalError(`journal header: ${error.message}`);
    throw error;
  }
}

/** Offset after a header with a valid checksum. */
function headerEnd(source: Uint8Array): number {
  if (source.length === 0) throw new JournalError('not a journal: the file is empty');
  for (let i = 0; i < MAGIC.length; i++) {
    if (source[i] !== MAGIC[i]) {
      throw new JournalError(`not a journal: byte ${String(i)} differs from the magic number`);
    }
  }
  if (source.length < FIXED) throw new JournalError('journal header: ends early at byte 8');
  const reader = new ByteReader(source, MAGIC.length);
  const length = reader.u32();
  const checksum = reader.i32();
  const end = FIXED + length;
  if (end > source.length) {
    throw new JournalError(
      `journal header: ${String(source.length - FIXED)} of ${String(length)} bytes`,
    );
  }
  if (crc32(reader.view, FIXED, end) !== checksum) {
    throw new JournalError('journal header: a wrong checksum');
  }
  return end;
}

/** Last release with the rules by which a journal begins; null for the present rules. */
export function earlierRelease({ semanticsVersion }: JournalHeader): string | null {
  return semanticsVersion === SEMANTICS_VERSION ? null : (RELEASES[semanticsVersion] ?? null);
}

/** Release that reads journals of this semantics version. */
function releaseFor(semanticsVersion: number): string {
  const release = RELEASES[semanticsVersion];
  return release === undefined
    ? '; a newer release wrote it'
    : `; replay it with orrery ${release}`;
}

function readFields(body: Uint8Array): JournalHeader {
  const archive = new ArchiveReader(body);
  const formatVersion = archive.int();
  const semanticsVersion = archive.int();
  if (formatVersion !== PLAIN && formatVersion !== GROUPED) {
    throw new JournalError(
      `journal header: format version ${String(formatVersion)}, this program reads ${String(PLAIN)} and ${String(GROUPED)}`,
    );
  }
  if (semanticsVersion < OLDEST_REPLAYED || semanticsVersion > SEMANTICS_VERSION) {
    throw new JournalError(
      `journal header: semantics version ${String(semanticsVersion)}, this program reads ${String(OLDEST_REPLAYED)} and ${String(SEMANTICS_VERSION)}` +
        releaseFor(semanticsVersion),
      { hint: 'serve the folder with that release, or begin with an empty folder' },
    );
  }
  const hash = archive.text();
  const config = archiveConfig(archive, null);
  const grouped = formatVersion === GROUPED;
  const after = grouped ? { seq: seq(archive.int()), timeUs: timeUs(archive.int()) } : BEGINNING;
  archive.end();
  const actual = configHash(config);
  if (hash !== actual) {
    throw new JournalError(`journal header: config hash ${hash}, but its config is ${actual}`);
  }
  return { formatVersion, semanticsVersion, configHash: hash, config, grouped, after };
}
