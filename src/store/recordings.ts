/** Raw recordings on disk as streams of records: files of one recording, one after the other. */
import { BinanceRawDecoder } from '../sim/tape/binance-raw.ts';
import { lines } from '../sim/tape/lines.ts';
import { TapeError, type TapeRecord, type TapeUnits } from '../sim/tape/record.ts';
import { openBytes } from './byte-source.ts';

/** A recording opened for reading: its units are known once the first record came. */
export interface OpenRecording {
  readonly records: AsyncGenerator<TapeRecord[]>;
  readonly units: () => TapeUnits | null;
  /** 0…1 of the bytes read so far. */
  readonly progress: () => number;
}

const LINES_PER_BATCH = 1000;

export function openRaw(paths: readonly string[], units: TapeUnits | null): OpenRecording {
  const decoder = new BinanceRawDecoder(units);
  let fraction = 0;
  async function* batches(): AsyncGenerator<TapeRecord[]> {
    for (const [i, path] of paths.entries()) {
      const source = await openBytes(path);
      try {
        let batch: TapeRecord[] = [];
        let held = 0;
        for await (const line of lines(source.bytes, utf8)) {
          batch.push(...decoder.decode(line));
          held += 1;
          if (held < LINES_PER_BATCH) continue;
          yield batch;
          batch = [];
          held = 0;
          fraction = (i + source.read() / Math.max(1, source.size)) / paths.length;
        }
        yield batch;
      } catch (error) {
        throw error instanceof TapeError && !error.message.startsWith(path)
          ? new TapeError(`${path}: ${error.message}`)
          : error;
      }
    }
    if (decoder.units === null) {
      throw new TapeError(`${paths.join(', ')}: no message names a symbol`);
    }
  }
  return { records: batches(), units: () => decoder.units, progress: () => fraction };
}

const decoder = new TextDecoder();
const utf8 = (bytes: Uint8Array): string => decoder.decode(bytes);
