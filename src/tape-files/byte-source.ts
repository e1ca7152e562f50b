/**
 * Files of recordings as byte streams: plain, gzip, zip with one member, lz4 or zstd. The first
 * bytes determine the compression.
 */
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Unzip, UnzipInflate } from 'fflate';
import { Decompress } from 'fzstd';
import { TapeError } from '../tape/record.ts';
import { fileError } from '../platform/file-error.ts';
import { lz4Plain } from './lz4-frame.ts';

/** A file that is being read. */
export interface ByteSource {
  readonly path: string;
  /** File size on disk, bytes. */
  readonly size: number;
  /** Bytes of the file read so far. */
  readonly read: () => number;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Name of the file in a zip archive, once its first bytes are read. */
  readonly member: () => string | null;
}

/** Throws `FileError` if the file cannot be read; `TapeError` on damaged data. */
export async function openBytes(path: string): Promise<ByteSource> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  const kind = kindOf(await firstBytes(path));
  const file = createReadStream(path);
  const read = (): number => file.bytesRead;
  const members: string[] = [];
  const bytes = explained(path, plain(kind, file, members), read);
  return { path, size, read, bytes, member: () => members[0] ?? null };
}

type Kind = 'plain' | 'gzip' | 'zip' | 'lz4' | 'zstd';

const MAGIC: readonly (readonly [Kind, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['lz4', [0x04, 0x22, 0x4d, 0x18]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
];

function kindOf(head: Uint8Array): Kind {
  return MAGIC.find(([, magic]) => magic.every((byte, i) => head[i] === byte))?.[0] ?? 'plain';
}

/** Appends the names of an archive's files to `members`. */
function plain(
  kind: Kind,
  file: ReturnType<typeof createReadStream>,
  members: string[],
): AsyncIterable<Uint8Array> {
  switch (kind) {
    case 'gzip':
      return pipeline(file, createGunzip(), () => undefined);
    case 'zip':
      return unzipped(file, members);
    case 'lz4':
      return lz4Plain(file);
    case 'zstd':
      return zstdPlain(file);
    case 'plain':
      return file;
  }
}

/** The only member of a zip archive. */
async function* unzipped(
  source: AsyncIterable<Uint8Array>,
  members: string[],
): AsyncGenerator<Uint8Array> {
  let out: Uint8Array[] = [];
  const entries = { files: 0, ended: false };
  const faults: Error[] = [];
  const unzip = new Unzip((entry) => {
    if (entry.name.endsWith('/')) return;
    members.push(entry.name);
    entries.files += 1;
    if (entries.files > 1) return;
    // The callback's type omits that the error is null on success.
    entry.ondata = (error: Error | null, bytes, final) => {
      if (error !== null) faults.push(error);
      else out.push(bytes);
      entries.ended ||= final;
    };
    entry.start();
  });
  unzip.register(UnzipInflate);
  const check = (): void => {
    const [fault] = faults;
    if (fault !== undefined) throw new TapeError(`damaged zip data: ${fault.message}`);
    if (entries.files > 1) throw new TapeError('a zip archive with more than one file in it');
  };
  for await (const chunk of source) {
    try {
      unzip.push(chunk);
    } catch (error) {
      throw new TapeError(`damaged zip data: ${error instanceof Error ? error.message : ''}`);
    }
    check();
    yield* out;
    out = [];
  }
  if (!entries.ended) throw new TapeError('the zip archive ends early');
}

async function* zstdPlain(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let out: Uint8Array[] = [];
  const stream = new Decompress((bytes) => out.push(bytes));
  const push = (chunk: Uint8Array, ended: boolean): void => {
    try {
      stream.push(chunk, ended);
    } catch (error) {
      throw new TapeError(`damaged zstd data: ${error instanceof Error ? error.message : ''}`);
    }
  };
  for await (const chunk of source) {
    push(chunk, false);
    yield* out;
    out = [];
  }
  push(new Uint8Array(0), true);
  yield* out;
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
    if (error instanceof TapeError) throw new TapeError(`${path}: ${error.message}`);
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code.startsWith('Z_')) {
      throw new TapeError(
        `${path}: damaged gzip data after byte ${String(read())}: ${(error as Error).message}`,
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
