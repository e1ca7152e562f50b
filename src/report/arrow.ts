/**
 * A strategy's samples, orders and fills as Arrow files, for notebooks and databases. Exact
 * decimals stay text; times are 64-bit integers of µs since the Unix epoch. Only the content of the
 * files is deterministic, not their bytes.
 *
 * Columns are made as buffers: the library's builders cost ten times as much for each cell.
 */
import { createRequire } from 'node:module';
import type * as Arrow from 'apache-arrow';
import type { BacktestOutput, StrategyOutput } from '../backtest/output.ts';

type Cell = number | string | boolean | null;
type Row = Readonly<Record<string, unknown>>;
/** A column's name, and its cell in a row. */
type Column = readonly [name: string, cell: (row: Row) => Cell];

/** One file of the package instead of its 146 modules. */
const { Bool, Data, Field, Float64, Int64, RecordBatch, Schema, Struct, Table, tableToIPC, Utf8 } =
  createRequire(import.meta.url)('apache-arrow/Arrow.es2015.min') as typeof Arrow;

/** One row per sample; one column `position SYMBOL` per market of the run. */
export function equityArrow({ equity }: StrategyOutput, { markets }: BacktestOutput): Uint8Array {
  const positions = markets.map(({ symbol }, i): Column => {
    const cell = (row: Row): number =>
      (row as unknown as (typeof equity)[number]).positions[i] ?? 0;
    return [`position ${symbol}`, cell];
  });
  return arrow(equity, 'positions', positions);
}

export function ordersArrow({ orders }: StrategyOutput): Uint8Array {
  return arrow(orders, null, []);
}

/** One markout column per horizon. */
export function fillsArrow({ fills }: StrategyOutput): Uint8Array {
  const markouts = ['mid1s', 'mid10s', 'mid60s'].map((name, i): Column => {
    const cell = (row: Row): Cell => (row as unknown as (typeof fills)[number]).markouts[i] ?? null;
    return [name, cell];
  });
  return arrow(fills, 'markouts', markouts);
}

/** Columns are the fields of the first row without `list`, then `more`. */
function arrow(
  objects: readonly object[],
  list: string | null,
  more: readonly Column[],
): Uint8Array {
  const rows = objects as readonly Row[];
  const names = Object.keys(rows[0] ?? {}).filter((name) => name !== list);
  const own = names.map((name): Column => [name, (row) => (row[name] ?? null) as Cell]);
  const columns = names.length === 0 ? [] : [...own, ...more];
  const data = columns.map(([name, cell]) => dataOf(name, rows.map(cell)));
  const fields = columns.map(([name], i) => new Field(name, data[i]?.type ?? new Utf8(), true));
  const schema = new Schema(fields);
  const struct = new Data(new Struct(fields), 0, rows.length, 0, undefined, data);
  return tableToIPC(new Table(schema, new RecordBatch(schema, struct)), 'file');
}

/** A column's type is that of its first value that is not null. */
function dataOf(name: string, cells: readonly Cell[]): Arrow.Data {
  const first = cells.find((cell) => cell !== null) ?? null;
  const { length } = cells;
  let nullCount = 0;
  for (const cell of cells) if (cell === null) nullCount += 1;
  const valid = nullCount === 0 ? undefined : bitsOf(cells, (cell) => cell !== null);
  // In the order of the format: offsets, values, validity.
  const made = (type: Arrow.DataType, values: ArrayBufferView, offsets?: Int32Array): Arrow.Data =>
    new Data(type, 0, length, nullCount, [offsets, values, valid] as never);
  if (name.endsWith('Us')) return made(new Int64(), wideIntegers(cells as readonly number[]));
  if (typeof first === 'boolean')
    return made(
      new Bool(),
      bitsOf(cells, (cell) => cell === true),
    );
  if (typeof first !== 'string') return made(new Float64(), Float64Array.from(cells as number[]));
  const { bytes, offsets } = textOf(cells as readonly (string | null)[]);
  return made(new Utf8(), bytes, offsets);
}

function bitsOf(cells: readonly Cell[], isSet: (cell: Cell) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(cells.length / 8));
  cells.forEach((cell, i) => {
    if (isSet(cell)) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
  });
  return bits;
}

/** Low and high halves, because a bigint for each costs more. */
function wideIntegers(cells: readonly (number | null)[]): BigInt64Array {
  const integers = new BigInt64Array(cells.length);
  const halves = new Int32Array(integers.buffer);
  cells.forEach((cell, i) => {
    const high = Math.floor((cell ?? 0) / 2 ** 32);
    halves[2 * i] = (cell ?? 0) - high * 2 ** 32;
    halves[2 * i + 1] = high;
  });
  return integers;
}

function textOf(cells: readonly (string | null)[]): { bytes: Uint8Array; offsets: Int32Array } {
  const whole = cells.join('');
  const bytes = Buffer.from(whole);
  const isAscii = bytes.length === whole.length;
  const offsets = new Int32Array(cells.length + 1);
  cells.forEach((cell, i) => {
    const text = cell ?? '';
    offsets[i + 1] = (offsets[i] ?? 0) + (isAscii ? text.length : Buffer.byteLength(text));
  });
  return { bytes, offsets };
}
