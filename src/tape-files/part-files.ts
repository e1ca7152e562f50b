/**
 * The files of a dataset's parts, decoded to columns. Each file's SHA-256 is verified before its
 * first use.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { AsyncBuffer, Compressors } from 'hyparquet';
import { fileError } from '../platform/file-error.ts';
import type { DatasetFile, PartManifest } from '../tape/manifest.ts';
import { readPart, type PartTable } from '../tape/part-reader.ts';
import type { RecordColumns } from '../tape/record-columns.ts';
import { TapeError } from '../tape/record.ts';

/**
 * Row groups of parts in order. `checked` collects the files whose hash was verified. The next part
 * is opened while one is read, so that its files need not be waited for. Throws `TapeError` on
 * damage, and `FileError` for a file that cannot be read.
 */
export async function* columnsOfParts(
  folder: string,
  parts: readonly PartManifest[],
  checked: Set<string>,
): AsyncGenerator<RecordColumns> {
  const opening = (i: number): Promise<OpenPart> | null => {
    const part = parts[i];
    if (part === undefined) return null;
    const opened = openPart(folder, part, checked);
    // An error of the next part is thrown when its rows are due.
    opened.catch(() => undefined);
    return opened;
  };
  let next = opening(0);
  try {
    for (let i = 1; next !== null; i++) {
      const { events, levels, close } = await next;
      next = opening(i);
      try {
        yield* readPart(events, levels, NATIVE);
      } finally {
        await close();
      }
    }
  } finally {
    await next?.then(
      ({ close }) => close(),
      () => undefined,
    );
  }
}

/** A page of a dataset is a megabyte or less; larger ones are decompressed in pieces. */
const MAX_PIECE = 1 << 22;

const NATIVE: Compressors = { GZIP: gunzipPage };

/** A page, which must not be longer than its header states. */
export function gunzipPage(input: Uint8Array, bytes: number): Uint8Array {
  try {
    // A piece is longer than the page, so that the end of the data is found in it.
    const chunkSize = Math.min(bytes + 64, MAX_PIECE);
    return gunzipSync(input, { chunkSize, maxOutputLength: Math.max(1, bytes) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error;
    throw new TapeError(`a page has more than the ${String(bytes)} bytes that its header states`);
  }
}

/** The files of a part, verified. */
interface OpenPart {
  readonly events: PartTable;
  readonly levels: PartTable;
  readonly close: () => Promise<void>;
}

async function openPart(
  folder: string,
  part: PartManifest,
  checked: Set<string>,
): Promise<OpenPart> {
  const events = await openTable(folder, part.events, checked);
  try {
    const levels = await openTable(folder, part.levels, checked);
    const close = async (): Promise<void> => {
      await events.close();
      await levels.close();
    };
    return { events, levels, close };
  } catch (error) {
    await events.close();
    throw error;
  }
}

/** Larger files are read in ranges. */
const WHOLE_BYTES = 4 << 20;

interface OpenTable extends PartTable {
  readonly close: () => Promise<void>;
}

/** Opens a file, and verifies it against its hash in the manifest once. */
async function openTable(
  folder: string,
  { name, sha256 }: DatasetFile,
  checked: Set<string>,
): Promise<OpenTable> {
  const path = join(folder, name);
  const verify = (actual: string): void => {
    if (actual !== sha256) {
      throw new TapeError(`${path}: sha256 is ${actual}, the manifest says ${sha256}`);
    }
    checked.add(name);
  };
  const file = await open(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  try {
    const { size } = await file.stat();
    if (size <= WHOLE_BYTES) {
      const bytes = await file.readFile();
      if (!checked.has(name)) verify(createHash('sha256').update(bytes).digest('hex'));
      await file.close();
      return { name: path, bytes: memoryBuffer(bytes), close: () => Promise.resolve() };
    }
    if (!checked.has(name)) verify(await sha256Of(path));
    return { name: path, bytes: await fileBuffer(file), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error instanceof TapeError ? error : fileError(path, error);
  }
}

/** Ranges are counted from the end if they are negative. */
function memoryBuffer({ buffer, byteOffset, byteLength }: Uint8Array): AsyncBuffer {
  const bytes = buffer as ArrayBuffer;
  return {
    byteLength,
    slice: (start, end = byteLength) =>
      bytes.slice(byteOffset + (start < 0 ? byteLength + start : start), byteOffset + end),
  };
}

export async function fileBuffer(file: FileHandle): Promise<AsyncBuffer> {
  const { size } = await file.stat();
  return {
    byteLength: size,
    async slice(start, end = size) {
      const from = start < 0 ? size + start : start;
      const bytes = new Uint8Array(Math.max(0, Math.min(end, size) - from));
      let at = 0;
      while (at < bytes.length) {
        const { bytesRead } = await file.read(bytes, at, bytes.length - at, from + at);
        if (bytesRead === 0) throw new TapeError('the file ends early');
        at += bytesRead;
      }
      return bytes.buffer;
    },
  };
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  } catch (error) {
    throw fileError(path, error);
  }
  return hash.digest('hex');
}
