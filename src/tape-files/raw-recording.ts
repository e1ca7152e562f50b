/** Recordings that are read before or without an import. */
import type { RecordedKind } from '../tape/formats/market-kind.ts';
import { NumberScan } from '../tape/formats/numbers.ts';
import type { TapeRecord, TapeUnits } from '../tape/record.ts';
import { filesToRead } from './companion-files.ts';
import { findUnits } from './find-units.ts';
import { formatNamed } from './format-named.ts';
import { Recording, type RecordingOptions } from './recordings.ts';

/** Spot or a contract, by the first records; null if they do not state it. */
export async function findKind(options: RecordingOptions): Promise<RecordedKind | null> {
  const read = { ...options, units: null, skipBad: Infinity, state: null };
  const recording = new Recording(read, new NumberScan());
  for (const path of filesToRead(options)) {
    for await (const batch of recording.read(path)) {
      if (recording.kind !== null || batch.length > 0) return recording.kind;
    }
  }
  return null;
}

/** Opens a recording of raw lines to read its records; `units` null finds them in the data. */
export async function openRaw(
  paths: readonly string[],
  units: TapeUnits | null,
  symbol: string | null = units?.symbol ?? null,
) {
  const found: RecordingOptions = {
    format: formatNamed('binance-raw'),
    files: paths,
    symbol,
    units,
    inverse: null,
    map: null,
    skipBad: 0,
    state: null,
  };
  const options = { ...found, units: await findUnits(found) };
  const recording = new Recording(options);
  let done = 0;
  async function* records(): AsyncGenerator<TapeRecord[]> {
    for (const path of paths) {
      yield* recording.read(path);
      done += 1;
    }
  }
  return {
    records: records(),
    units: () => recording.units,
    progress: () => (done + recording.fraction) / paths.length,
  };
}
