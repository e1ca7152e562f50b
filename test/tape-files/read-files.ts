/** Records that `orrery data import` reads from files. */
import type { TapeRecord, TapeUnits } from '../../src/tape/record.ts';
import { filesToRead } from '../../src/tape-files/companion-files.ts';
import { findUnits } from '../../src/tape-files/find-units.ts';
import { formatNamed } from '../../src/tape-files/format-named.ts';
import { Recording, type RecordingOptions } from '../../src/tape-files/recordings.ts';

export interface Read {
  readonly units: TapeUnits | null;
  readonly records: TapeRecord[];
  readonly skipped: number;
}

/** `changes` to the default options of the command line. */
export async function readFiles(
  format: string,
  paths: readonly string[],
  changes: Partial<RecordingOptions> = {},
): Promise<Read> {
  const options: RecordingOptions = {
    format: formatNamed(format),
    files: paths,
    symbol: null,
    units: null,
    inverse: null,
    map: null,
    skipBad: 0,
    state: null,
    ...changes,
  };
  const units = await findUnits(options);
  const recording = new Recording({ ...options, units });
  const records: TapeRecord[] = [];
  for (const path of filesToRead(options)) {
    for await (const batch of recording.read(path)) records.push(...batch);
  }
  return { units: recording.units, records, skipped: recording.skipped };
}
