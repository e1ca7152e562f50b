/** Files of recordings as byte streams: plain, gzip, zip with one entry or lz4, told apart by their first bytes. */
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TapeError } from '../sim/tape/record.ts';
import { fileError } from './file-error.ts';

/** A file being read. */
export interface ByteSource {
  readonly path: string;
  /** Of the file as it lies on disk. */
  readonly size: number;
  /** Bytes of the file read so far. */
  readonly read: () => number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Throws `FileError` when the file cannot be read; `TapeError` while reading damaged data. */
export async function openBytes(path: string): Promise<ByteSource> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  const head = await firstBytes(path);
  const file = createReadStream(path);
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const stream = isGzip ? pipeline(file, createGunzip(), () => undefined) : file;
  return { path, size, read: () => file.bytesRead, bytes: explained(path, stream, file) };
}

/** The stream with its errors in words. */
async function* explained(
  path: string,
  stream: AsyncIterable<Uint8Array>,
  file: { readonly bytesRead: number },
): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code.startsWith('Z_')) {
      throw new TapeError(
        `${path}: damaged gzip data after byte ${String(file.bytesRead)}: ${(error as Error).message}`,
      );
    }
    throw fileError(path, error);
  }
}

async function firstBytes(path: string): Promise<Uint8Array> {
  const head = new Uint8Array(4);
  try {
    const file = await open(path);
    try {
      await file.read(head, 0, 4, 0);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError(path, error);
  }
  return head;
}
