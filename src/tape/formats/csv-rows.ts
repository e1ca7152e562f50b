/**
 * Rows of a CSV file, one chunk of bytes at a time. Quoted fields may contain the delimiter but no
 * line break.
 */
import type Papa from 'papaparse';
import { TapeError } from '../record.ts';
import { isHeader } from './row-decoder.ts';

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
  // A run loads this module, and seldom reads a CSV file.
  const { default: parser } = await import('papaparse');
  const parse = (text: string): string[][] => parsed(parser, text, delimiter, line);
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
    const rows = parse(decode(joined(rest, chunk.subarray(0, end))));
    line += rows.length;
    yield rows;
    rest = chunk.slice(end + 1);
  }
  if (rest.length > 0) yield parse(decode(rest));
}

/** The rows alone, without empty lines. */
export async function* rowByRow(batches: AsyncIterable<string[][]>): AsyncGenerator<string[]> {
  for await (const batch of batches) {
    for (const row of batch) if (row.length > 1 || row[0] !== '') yield row;
  }
}

/**
 * The same rows. Throws `TapeError` at one with a value beyond the columns that its header names.
 */
export async function* withinHeader(
  batches: AsyncIterable<string[][]>,
): AsyncGenerator<string[][]> {
  let columns = Infinity;
  let line = 1;
  let before: string | null = null;
  let name = '';
  const beyond = (row: readonly string[]): number =>
    row.findIndex((field, at) => at >= columns && field.trim() !== '');
  for await (const batch of batches) {
    const [first] = batch;
    if (line === 1 && first !== undefined && isHeader(first)) {
      columns = first.length;
      before = beforeHeader(first);
      name = first[0] ?? '';
    }
    const at = batch.findIndex((row) => row.length > columns && beyond(row) >= 0);
    const row = batch[at];
    if (row !== undefined) {
      if (before !== null) {
        throw new TapeError(`line 1: ${before}; remove it, so that the header is the first line`);
      }
      if (columns === 1) throw new TapeError(singleColumn(name));
      throw new TapeError(
        `line ${String(line + at)}: a value in column ${String(beyond(row) + 1)}, and the header names ${String(columns)}`,
      );
    }
    line += batch.length;
    yield batch;
  }
}

/** The kind of a first line that is no header; null for a header. */
function beforeHeader([field = '', ...others]: readonly string[]): string | null {
  if (field.startsWith('#')) return 'a comment';
  return field.trim() === '' && others.length === 0 ? 'empty' : null;
}

/** The fault of a header of one column above rows of more. */
function singleColumn(name: string): string {
  const [delimiter] = /[;|\t]/.exec(name) ?? [];
  return delimiter === undefined
    ? 'line 1: one column, and later lines have more; remove what is above the header'
    : `line 1: not separated by ","; map the columns with --map and delimiter: ${JSON.stringify(delimiter)}`;
}

/** `line`: number of the first line of the text. */
function parsed(parser: typeof Papa, text: string, delimiter: string, line: number): string[][] {
  const bare = withLineFeeds(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, line);
  const { data } = parser.parse<string[]>(bare, { delimiter, newline: '\n' });
  // A quote that is not closed would hide the lines after it in one field.
  const open = bare.includes('"')
    ? data.findIndex((row) => row.some((field) => field.includes('\n')))
    : -1;
  if (open < 0) return data;
  throw new TapeError(
    `line ${String(line + open)}: a quoted field does not end on its line; close its quote`,
  );
}

/** The text with LF for CRLF; a carriage return alone would join the lines of a file into one. */
function withLineFeeds(text: string, line: number): string {
  if (!text.includes('\r')) return text;
  const lines = text.replaceAll('\r\n', '\n').replace(/\r$/, '');
  const alone = lines.indexOf('\r');
  if (alone < 0) return lines;
  const at = line + lines.slice(0, alone).split('\n').length - 1;
  throw new TapeError(
    `line ${String(at)}: a carriage return without a line feed; lines end with LF or CRLF`,
  );
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const whole = new Uint8Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return whole;
}
