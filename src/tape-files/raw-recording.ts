/** Raw lines of one market that are read without an import. */
import type { TapeRecord, TapeUnits } from '../tape/record.ts';
import { findUnits, formatNamed, Recording, type RecordingOptions } from './recordings.ts';

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
    inverse: false,
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
