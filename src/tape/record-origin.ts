/** Guarantees about the records of a market, by the formats of its streams. */
import { FORMATS, type Format } from './formats/formats.ts';
import type { StreamManifest } from './manifest.ts';
import type { RecordOrigin } from './record-checks.ts';

/** Guarantees of the formats of a market's streams about its records. */
export function originOf(
  streams: readonly Pick<StreamManifest, 'format' | 'symbol' | 'counts'>[],
): RecordOrigin {
  const rowOf = (name: string): Format | undefined => FORMATS.find((row) => row.name === name);
  const rows = streams.map(({ format }) => rowOf(format));
  const ofUpdates = streams.filter(({ counts }) => (counts.depth ?? 0) > 0);
  return {
    hasVenueIds: ofUpdates.every(({ format, symbol }) => {
      const { assignsIds = false, withIds } = rowOf(format) ?? {};
      return !assignsIds || withIds?.test(symbol) === true;
    }),
    isComplete: rows.length > 0 && rows.every((row) => row?.isComplete === true),
  };
}
