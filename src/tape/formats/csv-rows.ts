/**
 * Rows of a CSV file, one chunk of bytes at a time. Quoted fields may contain the delimiter but no
 * line break.
 */
import Papa from 'papaparse';
import { TapeError } from '../record.ts';

const MAX_LINE = 16 * 1024 * 1024;

/**
 * One row per line; empty lines yield empty rows, so that indices count lines. `decode` turns bytes
 * into text (UTF-8).
 */
export async function* csvRows(
  source: AsyncIterable<Uint8Array>,
  decode: (bytes: Uint8Array) => string,
  delimiter = ',',
): AsyncGenerator<string[][]> {
  let rest: Uint8Array = new Uint8Array(0);
  let line = 1;
  for await (const chunk of source) {
    const end = chunk.lastIndexOf(10);
    if (end < 0) {
      rest = joined(rest, chunk);
      if (rest.length > MAX_LINE) {
        throw new TapeError(`line ${String(line)}: longer than ${String(MAX_LINE)} bytes`);
      }
      continue;
    }
    const rows = parse(decode(joined(rest, chunk.subarray(0, end))), delimiter);
    line += rows.length;
    yield rows;
    rest = chunk.slice(end + 1);
  }
  if (rest.length > 0) yield parse(decode(rest), delimiter);
}

function parse(text: string, delimiter: string): string[][] {
  const bare = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const { data } = Papa.parse<string[]>(bare, { delimiter, newline: '\n' });
  // With CRLF line ends, the carriage return is at the end of the last field.
  for (const row of data) {
    const last = row[row.length - 1];
    if (last?.endsWith('\r') === true) row[row.length - 1] = last.slice(0, -1);
  }
  return data;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
