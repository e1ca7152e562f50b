/** Bytes of a file that are no text of a recording: binary ones, which are never shown. */
import { TapeError } from '../tape/record.ts';

const SAMPLE = 4096;

/** First bytes of known binary files, and what to do with them. */
const KNOWN: readonly (readonly [magic: string, advice: string])[] = [
  ['DBN', 'a Databento binary file (DBN); export it as CSV and use the format databento'],
  ['PAR1', 'a Parquet file; use the format parquet or nautilus'],
  ['ARROW1', 'an Arrow file; use the format arrow'],
  ['\u0089HDF', 'an HDF5 file; export it as CSV'],
  ['SQLite format 3', 'an SQLite database; export it as CSV'],
  ['\u0093NUMPY', 'a NumPy file; export it as CSV'],
];

/** Throws `TapeError` if the bytes at the start of a file are not text. */
export function mustBeText(bytes: Uint8Array): void {
  const head = bytes.subarray(0, SAMPLE);
  const start = String.fromCharCode(...head.subarray(0, 16));
  const known = KNOWN.find(([magic]) => start.startsWith(magic));
  if (known !== undefined) throw new TapeError(`it is ${known[1]}`);
  if (head.includes(0)) throw new TapeError('it is binary, not text');
}

/** Whether bytes are ends of lines alone. */
export function isEmptyLines(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 10 || byte === 13);
}
