/**
 * A table as an Arrow IPC file. Columns are made as buffers: the library's builders cost ten times
 * as much for each cell.
 */
import { createRequire } from 'node:module';
import type * as Arrow from 'apache-arrow';
import type { RunTable, TableCell, TableColumn } from './run-tables.ts';

/** One file of the package instead of its 146 modules. */
const arrow = createRequire(import.meta.url)('apache-arrow/Arrow.es2015.min') as typeof Arrow;

export function arrowTable({ columns, rows }: RunTable): Uint8Array {
  const { Data, Field, RecordBatch, Schema, Struct, Table, tableToIPC } = arrow;
  const data = columns.map((column, i) => dataOf(column, i));
  const fields = columns.map(
    ({ name, type }, i) =>
      new Field(name, data[i]?.type ?? new arrow.Utf8(), type !== 'int' && type !== 'flag'),
  );
  const schema = new Schema(fields);
  const struct = new Data(new Struct(fields), 0, rows, 0, undefined, data);
  return tableToIPC(new Table(schema, new RecordBatch(schema, struct)), 'file');
}

/** `id` identifies the dictionary of a text column in its file. */
function dataOf({ type, cells }: TableColumn, id: number): Arrow.Data {
  const { Bool, Data, Dictionary, Float64, Int32, Int64, Timestamp, TimeUnit, Utf8, Vector } =
    arrow;
  const { length } = cells;
  let nullCount = 0;
  for (const cell of cells) if (cell === null) nullCount += 1;
  const valid = nullCount === 0 ? undefined : bitsOf(cells, (cell) => cell !== null);
  // In the order of the format: offsets, values, validity.
  const made = (kind: Arrow.DataType, values: ArrayBufferView): Arrow.Data =>
    new Data(kind, 0, length, nullCount, [undefined, values, valid] as never);
  switch (type) {
    case 'time':
      return made(
        new Timestamp(TimeUnit.MICROSECOND, 'UTC'),
        wideIntegers(cells as readonly number[]),
      );
    case 'int':
      return made(new Int64(), wideIntegers(cells as readonly number[]));
    case 'float':
      return made(new Float64(), doubles(cells as readonly (number | null)[]));
    case 'flag':
      return made(
        new Bool(),
        bitsOf(cells, (cell) => cell === true),
      );
    case 'text': {
      const { words, codes } = wordsOf(cells as readonly (string | null)[]);
      const { bytes, offsets } = textOf(words);
      const dictionary = new Vector([
        new Data(new Utf8(), 0, words.length, 0, [offsets, bytes, undefined] as never),
      ]);
      const kind = new Dictionary(new Utf8(), new Int32(), id);
      return new Data(
        kind,
        0,
        length,
        nullCount,
        [undefined, codes, valid] as never,
        [],
        dictionary,
      ) as Arrow.Data;
    }
  }
}

function bitsOf(cells: readonly TableCell[], isSet: (cell: TableCell) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(cells.length / 8));
  for (let i = 0; i < cells.length; i++) {
    if (isSet(cells[i] ?? null)) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
  }
  return bits;
}

/** A loop: `Float64Array.from` iterates. Null is 0, as there. */
function doubles(cells: readonly (number | null)[]): Float64Array {
  const values = new Float64Array(cells.length);
  for (let i = 0; i < cells.length; i++) values[i] = cells[i] ?? 0;
  return values;
}

/** Distinct texts in the order of their first cell, and the place of each cell's text. */
function wordsOf(cells: readonly (string | null)[]): { words: string[]; codes: Int32Array } {
  const words: string[] = [];
  const places = new Map<string, number>();
  const codes = new Int32Array(cells.length);
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i] ?? null;
    if (cell === null) continue;
    let place = places.get(cell);
    if (place === undefined) {
      place = words.push(cell) - 1;
      places.set(cell, place);
    }
    codes[i] = place;
  }
  return { words, codes };
}

/** Low and high halves, because a bigint for each costs more. */
export function wideIntegers(cells: readonly (number | null)[]): BigInt64Array {
  const integers = new BigInt64Array(cells.length);
  const halves = new Int32Array(integers.buffer);
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i] ?? 0;
    const high = Math.floor(cell / 2 ** 32);
    halves[2 * i] = cell - high * 2 ** 32;
    halves[2 * i + 1] = high;
  }
  return integers;
}

function textOf(words: readonly string[]): { bytes: Uint8Array; offsets: Int32Array } {
  const offsets = new Int32Array(words.length + 1);
  words.forEach((word, i) => {
    offsets[i + 1] = (offsets[i] ?? 0) + Buffer.byteLength(word);
  });
  return { bytes: Buffer.from(words.join('')), offsets };
}
