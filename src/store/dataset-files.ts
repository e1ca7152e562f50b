/** Datasets and raw recordings on disk as streams of tape records. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { pipeline } from 'node:stream';
import type { AsyncBuffer } from 'hyparquet';
import { BinanceRawDecoder } from '../sim/tape/binance-raw.ts';
import { parseManifest, readDataset, type DatasetManifest } from '../sim/tape/dataset.ts';
import { lines } from '../sim/tape/lines.ts';
import { TapeError, type TapeRecord, type TapeUnits } from '../sim/tape/record.ts';
import { fileError } from './file-error.ts';

/** A recording opened for reading: its units are known once the first record came. */
export interface OpenRecording {
  readonly records: AsyncGenerator<TapeRecord[]>;
  readonly units: () => TapeUnits | null;
  /** Null for a raw file. */
  readonly manifest: DatasetManifest | null;
  /** 0…1 of the bytes read so far. */
  readonly progress: () => number;
}

/** A dataset folder, or a raw recording (gzip or plain). */
export async function openRecording(
  path: string,
  units: TapeUnits | null = null,
): Promise<OpenRecording> {
  try {
    const entry = await stat(path);
    return entry.isDirectory() ? await openDataset(path) : openRaw([path], units);
  } catch (error) {
    throw fileError(path, error);
  }
}

async function openDataset(folder: string): Promise<OpenRecording> {
  const path = join(folder, 'manifest.json');
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw fileError(path, error);
  });
  const manifest = parseManifest(text);
  for (const { name, sha256 } of manifest.files) {
    const file = join(folder, name);
    const actual = await sha256Of(file);
    if (actual !== sha256) {
      throw new TapeError(`${file}: sha256 is ${actual}, the manifest says ${sha256}`);
    }
  }
  const rows = Object.values(manifest.counts).reduce((sum, count) => sum + count, 0);
  let done = 0;
  async function* batches(): AsyncGenerator<TapeRecord[]> {
    const events = await open(join(folder, 'events.parquet'));
    const levels = await open(join(folder, 'levels.parquet'));
    try {
      for await (const batch of readDataset(await fileBuffer(events), await fileBuffer(levels))) {
        yield batch;
        done += batch.length;
      }
    } finally {
      await events.close();
      await levels.close();
    }
  }
  return {
    records: batches(),
    units: () => manifest,
    manifest,
    progress: () => (rows === 0 ? 1 : done / rows),
  };
}

/** Raw files one after the other, as one recording. */
export function openRaw(paths: readonly string[], units: TapeUnits | null): OpenRecording {
  const decoder = new BinanceRawDecoder(units);
  let fraction = 0;
  async function* batches(): AsyncGenerator<TapeRecord[]> {
    for (const [i, path] of paths.entries()) {
      const { size } = await stat(path).catch((error: unknown) => {
        throw fileError(path, error);
      });
      const file = createReadStream(path);
      const isGzip = await startsWithGzip(path);
      const source = isGzip ? pipeline(file, createGunzip(), () => undefined) : file;
      try {
        for await (const line of lines(source, utf8)) {
          yield decoder.decode(line);
          fraction = (i + file.bytesRead / Math.max(1, size)) / paths.length;
        }
      } catch (error) {
        if (error instanceof TapeError) throw new TapeError(`${path}: ${error.message}`);
        const code = (error as NodeJS.ErrnoException).code ?? '';
        if (code.startsWith('Z_')) {
          throw new TapeError(
            `${path}: damaged gzip data after byte ${String(file.bytesRead)}: ${(error as Error).message}`,
          );
        }
        throw fileError(path, error);
      }
    }
    if (decoder.units === null) {
      throw new TapeError(`${paths.join(', ')}: no message names a symbol`);
    }
  }
  return {
    records: batches(),
    units: () => decoder.units,
    manifest: null,
    progress: () => fraction,
  };
}

const decoder = new TextDecoder();
const utf8 = (bytes: Uint8Array): string => decoder.decode(bytes);

async function startsWithGzip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const head = new Uint8Array(2);
    await file.read(head, 0, 2, 0);
    return head[0] === 0x1f && head[1] === 0x8b;
  } finally {
    await file.close();
  }
}

async function fileBuffer(file: FileHandle): Promise<AsyncBuffer> {
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
