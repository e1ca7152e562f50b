/**
 * Files of recordings as byte streams: plain, gzip, zip with one member, lz4 or zstd. The first
 * bytes determine the compression.
 */
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TapeError } from '../tape/record.ts';
import { FileError, fileError } from '../platform/file-error.ts';
import { lz4Plain } from './lz4-frame.ts';
import { openZip } from './zip-member.ts';
import { zstdPlain } from './zstd-frame.ts';

/** A file that is being read. */
export interface ByteSource {
  readonly path: string;
  /** File size on disk, bytes. */
  readonly size: number;
  /** Bytes of the file read so far. */
  readonly read: () => number;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Name of the file in a zip archive. */
  readonly member: string | null;
}

/** Throws `FileError` if the file cannot be read; `TapeError` on damaged data. */
export async function openBytes(path: string): Promise<ByteSource> {
  const size = await sizeOfFile(path);
  const kind = await kindOfFile(path);
  if (kind === 'zip') {
    const { name, file, bytes } = await openZip(path).catch((error: unknown) => {
      throw explanation(path, error, 0);
    });
    const read = (): number => file.bytesRead;
    return { path, size, read, bytes: explained(path, bytes, read), member: name };
  }
  const file = createReadStream(path);
  const read = (): number => file.bytesRead;
  return { path, size, read, bytes: explained(path, plain(kind, file), read), member: null };
}

/**
 * Size of a file that can be read more than once. Throws `FileError` for a named pipe or a device,
 * which would be waited for.
 */
export async function sizeOfFile(path: string): Promise<number> {
  const found = await stat(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  if (found.isFile()) return found.size;
  if (found.isDirectory()) throw fileError(path, { code: 'EISDIR' });
  throw new FileError(
    `${path}: is a pipe or a device; a recording is read more than once, so write it to a file`,
  );
}

type Kind = 'plain' | 'gzip' | 'zip' | 'lz4' | 'zstd';

const SKIPPABLE = 0x184d2a50;
const MAGIC: readonly (readonly [Kind, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['zip', [0x50, 0x4b, 0x05, 0x06]],
  ['lz4', [0x04, 0x22, 0x4d, 0x18]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
];

/** Zstd and lz4 share skippable frames: the frame after them determines the kind. */
async function kindOfFile(path: string): Promise<Kind> {
  try {
    const file = await open(path);
    try {
      for (let at = 0; ;) {
        const head = Buffer.alloc(8);
        const { bytesRead } = await file.read(head, 0, 8, at);
        const isSkippable = bytesRead === 8 && (head.readUInt32LE(0) & ~15) === SKIPPABLE;
        if (!isSkippable) return kindOf(head) ?? (at > 0 ? 'zstd' : 'plain');
        at += 8 + head.readUInt32LE(4);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError(path, error);
  }
}

function kindOf(head: Uint8Array): Kind | undefined {
  return MAGIC.find(([, magic]) => magic.every((byte, i) => head[i] === byte))?.[0];
}

function plain(
  kind: Exclude<Kind, 'zip'>,
  file: ReturnType<typeof createReadStream>,
): AsyncIterable<Uint8Array> {
  switch (kind) {
    case 'gzip':
      return pipeline(file, createGunzip(), () => undefined);
    case 'lz4':
      return lz4Plain(file);
    case 'zstd':
      return zstdPlain(file);
    case 'plain':
      return file;
  }
}

/** Converts decoder errors of the stream into `TapeError`. */
async function* explained(
  path: string,
  stream: AsyncIterable<Uint8Array>,
  read: () => number,
): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    throw explanation(path, error, read());
  }
}

function explanation(path: string, error: unknown, read: number): Error {
  if (error instanceof TapeError) return new TapeError(`${path}: ${error.message}`);
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (!code.startsWith('Z_')) return fileError(path, error);
  return new TapeError(`${path}: damaged gzip data after byte ${String(read)}: ${message}`);
}
