/** A run's tables as CSV, Parquet, and NumPy's npz. */
import { zipSync } from 'fflate';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { wideIntegers } from './arrow-table.ts';
import type { ColumnType, RunTable, TableCell, TableColumn } from './run-tables.ts';

/**
 * RFC 4180; times are ISO 8601 with µs, an unknown cell is empty. A double has a point or an
 * exponent, so that readers that detect types find the same one in every run.
 */
export function csvTable({ columns, rows }: RunTable): string {
  const lines = [columns.map(({ name }) => name).join(',')];
  for (let row = 0; row < rows; row++) {
    lines.push(columns.map(({ type, cells }) => csvCell(type, cells[row] ?? null)).join(','));
  }
  return `${lines.join('\r\n')}\r\n`;
}

function csvCell(type: ColumnType, cell: TableCell): string {
  if (cell === null) return '';
  if (type === 'time') return isoOf(Number(cell));
  const text = String(cell);
  if (type === 'float' && /^-?\d+$/.test(text)) return `${text}.0`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function isoOf(us: number): string {
  const ms = Math.floor(us / 1000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(us - ms * 1000).padStart(3, '0')}Z`;
}

const PARQUET: Readonly<Record<ColumnType, object>> = {
  time: {
    type: 'INT64',
    repetition_type: 'OPTIONAL',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    converted_type: 'TIMESTAMP_MICROS',
  },
  int: { type: 'INT64', repetition_type: 'REQUIRED' },
  float: { type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  flag: { type: 'BOOLEAN', repetition_type: 'REQUIRED' },
  text: { type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL', converted_type: 'UTF8' },
};

export function parquetTable({ columns }: RunTable): Uint8Array {
  const schema = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type }) => ({ name, ...PARQUET[type] })),
  ];
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: columns.map(({ name, type, cells }) => ({
        name,
        data: type === 'time' || type === 'int' ? bigintsOf(cells) : [...cells],
      })),
      schema: schema,
    }),
  );
}

function bigintsOf(cells: readonly TableCell[]): (bigint | null)[] {
  return cells.map((cell) => (cell === null ? null : BigInt(cell)));
}

/**
 * One array for each column of each table, named `table.column`. An unknown time is NaT, an unknown
 * number NaN, unknown text is empty.
 */
export function npzTables(tables: readonly RunTable[]): Uint8Array {
  const files = tables.flatMap(({ name, columns }) =>
    columns.map((column) => [`${name}.${column.name}.npy`, npyOf(column)] as const),
  );
  // A fixed date, so that equal runs have equal bytes.
  return zipSync(Object.fromEntries(files), { level: 6, mtime: '1980-01-01T00:00:00Z' });
}

const NAT = -(2n ** 63n);

function npyOf({ type, cells }: TableColumn): Uint8Array {
  switch (type) {
    case 'time': {
      const values = wideIntegers(cells as readonly (number | null)[]);
      cells.forEach((cell, i) => {
        if (cell === null) values[i] = NAT;
      });
      return npy('<M8[us]', cells.length, values);
    }
    case 'int':
      return npy('<i8', cells.length, wideIntegers(cells as readonly number[]));
    case 'float':
      return npy(
        '<f8',
        cells.length,
        Float64Array.from(cells, (cell) => (cell === null ? NaN : Number(cell))),
      );
    case 'flag':
      return npy('|b1', cells.length, Uint8Array.from(cells, Number));
    case 'text': {
      const texts = cells.map((cell) => Array.from(String(cell ?? '')));
      const width = texts.reduce((most, text) => Math.max(most, text.length), 1);
      const values = new Uint32Array(texts.length * width);
      texts.forEach((text, i) => {
        text.forEach((character, j) => {
          values[i * width + j] = character.codePointAt(0) ?? 0;
        });
      });
      return npy(`<U${String(width)}`, texts.length, values);
    }
  }
}

/** NumPy's format, version 1.0: the header is padded to a multiple of 64 bytes. */
function npy(kind: string, length: number, values: ArrayBufferView): Uint8Array {
  const text = `{'descr': '${kind}', 'fortran_order': False, 'shape': (${String(length)},), }`;
  const padded = `${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`;
  const head = Buffer.alloc(10);
  head.write('\x93NUMPY\x01\x00', 'latin1');
  head.writeUInt16LE(padded.length, 8);
  const body = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return Buffer.concat([head, Buffer.from(padded, 'latin1'), body]);
}
