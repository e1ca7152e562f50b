/**
 * The only file of a zip archive as a byte stream, stored or deflated. The directory at the end of
 * the archive is read first, so that an archive that was cut off is found before its data are used.
 * Size and CRC-32 of the file are verified.
 *
 * Source: PKWARE .ZIP File Format Specification 6.3.10 (APPNOTE.TXT), 4.3 and 4.5.3.
 */
import { createReadStream, type ReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { TapeError } from '../tape/record.ts';

const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
/** The end record has 22 bytes and a comment of up to 65,535. */
const MOST_END = 22 + 65_535;
/** A directory of one file and its folders is small. */
const MOST_DIRECTORY = 1 << 24;
const STORED = 0;
const DEFLATED = 8;
/** Value of a 32-bit field whose number is in the 64-bit extra field. */
const IN_EXTRA = 0xffffffff;

export interface ZipMember {
  readonly name: string;
  /** The compressed bytes in the archive. */
  readonly file: ReadStream;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Rejects with `TapeError` unless the archive is whole and has exactly one file. */
export async function openZip(path: string): Promise<ZipMember> {
  const archive = await open(path);
  try {
    const entry = onlyFile(await directory(archive));
    const start = await dataStart(archive, entry);
    const end = start + entry.packed;
    const file = createReadStream(path, { start, end: Math.max(start, end - 1) });
    return { name: entry.name, file, bytes: verified(entry, file) };
  } finally {
    await archive.close();
  }
}

interface Entry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

/** The bytes of the directory, which ends where the end record begins. */
async function directory(archive: FileHandle): Promise<Buffer> {
  const { size } = await archive.stat();
  const tailAt = Math.max(0, size - MOST_END);
  const tail = await read(archive, tailAt, size - tailAt);
  const at = endRecord(tail);
  if (at < 0) throw new TapeError('the zip archive ends early: its directory is missing');
  let length = tail.readUInt32LE(at + 12);
  let offset = tail.readUInt32LE(at + 16);
  let endAt = tailAt + at;
  if (at >= 20 && tail.readUInt32LE(at - 20) === LOCATOR_64) {
    endAt = Number(tail.readBigUInt64LE(at - 12));
    const end = await read(archive, endAt, 56);
    if (end.readUInt32LE(0) !== END_64) throw damaged('its directory is not where it should be');
    length = Number(end.readBigUInt64LE(40));
    offset = Number(end.readBigUInt64LE(48));
  }
  // Otherwise other data, such as another archive, are before it.
  if (offset + length !== endAt) throw damaged('its directory is not where it should be');
  if (length > MOST_DIRECTORY) throw new TapeError('a zip archive with more than one file in it');
  return read(archive, offset, length);
}

/** Place of the end record, whose comment ends the archive and may contain the same signature. */
function endRecord(tail: Buffer): number {
  let last = -1;
  for (let at = tail.length - 22; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END) continue;
    if (at + 22 + tail.readUInt16LE(at + 20) === tail.length) return at;
    last = Math.max(last, at);
  }
  // Other data may follow an archive.
  return last;
}

function onlyFile(bytes: Buffer): Entry {
  const files: Entry[] = [];
  for (let at = 0; at < bytes.length;) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== ENTRY) throw damaged('its directory');
    const nameEnd = at + 46 + bytes.readUInt16LE(at + 28);
    const extraEnd = nameEnd + bytes.readUInt16LE(at + 30);
    const end = extraEnd + bytes.readUInt16LE(at + 32);
    if (end > bytes.length) throw damaged('its directory');
    const name = bytes.toString('utf8', at + 46, nameEnd);
    if (!name.endsWith('/')) files.push(entryOf(bytes, at, name, [nameEnd, extraEnd]));
    at = end;
  }
  const [only, second] = files;
  if (only === undefined) throw new TapeError('a zip archive without a file in it');
  if (second !== undefined) throw new TapeError('a zip archive with more than one file in it');
  if ((only.flags & 1) !== 0) throw new TapeError(`the file ${only.name} is encrypted`);
  if (only.method === STORED || only.method === DEFLATED) return only;
  throw new TapeError(
    `the file ${only.name} is compressed by method ${String(only.method)}; pack it with deflate`,
  );
}

function entryOf(bytes: Buffer, at: number, name: string, extra: [number, number]): Entry {
  let [size, packed, offset] = [24, 20, 42].map((field) => bytes.readUInt32LE(at + field));
  for (let [from, to] = extra; from + 4 <= to; from += 4 + bytes.readUInt16LE(from + 2)) {
    if (bytes.readUInt16LE(from) !== 1) continue;
    let next = from + 4;
    const wide = (value: number | undefined): number | undefined => {
      if (value !== IN_EXTRA || next + 8 > to) return value;
      next += 8;
      return Number(bytes.readBigUInt64LE(next - 8));
    };
    [size, packed, offset] = [wide(size), wide(packed), wide(offset)];
  }
  const flags = bytes.readUInt16LE(at + 8);
  const method = bytes.readUInt16LE(at + 10);
  const crc = bytes.readUInt32LE(at + 16);
  return { name, flags, method, crc, size: size ?? 0, packed: packed ?? 0, offset: offset ?? 0 };
}

/** Place of the data, behind a header of their own. */
async function dataStart(archive: FileHandle, { offset }: Entry): Promise<number> {
  const header = await read(archive, offset, 30);
  if (header.readUInt32LE(0) !== LOCAL) throw damaged('the header of its file');
  return offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
}

async function* verified(entry: Entry, file: ReadStream): AsyncGenerator<Uint8Array> {
  const { method, packed, crc, size } = entry;
  let [bytes, sum] = [0, 0];
  if (packed > 0) {
    const plain = method === STORED ? file : pipeline(file, createInflateRaw(), () => undefined);
    try {
      for await (const chunk of plain as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        sum = crc32(chunk, sum);
        yield chunk;
      }
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      throw code.startsWith('Z_') ? damaged((error as Error).message) : error;
    }
  } else file.destroy();
  if (bytes !== size) throw damaged(`its file has ${String(bytes)} bytes, not ${String(size)}`);
  if (sum !== crc) throw damaged('the checksum of its file differs');
}

async function read(archive: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await archive.read(bytes, 0, length, from);
  if (bytesRead < length) throw new TapeError('the zip archive ends early');
  return bytes;
}

const damaged = (what: string): TapeError => new TapeError(`damaged zip data: ${what}`);
