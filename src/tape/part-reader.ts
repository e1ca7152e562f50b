/**
 * Reads the two Parquet tables of a part as columns, one row group at a time: a row group of events
 * and its levels are in memory.
 */
import {
  parquetMetadataAsync,
  parquetRead,
  type AsyncBuffer,
  type Compressors,
  type DecodedArray,
  type FileMetaData,
} from 'hyparquet';
import { must } from '../base/assert.ts';
import { EVENT_COLUMNS, LEVEL_COLUMNS, type RecordColumns } from './record-columns.ts';
import { TapeError } from './record.ts';

/** A table of a part: its bytes, and its name for errors. */
export interface PartTable {
  readonly name: string;
  readonly bytes: AsyncBuffer;
}

type Numbers = Int32Array | Float64Array;

/** Row groups in recorded order. Throws `TapeError` on damage. */
export async function* readPart(
  events: PartTable,
  levels: PartTable,
  compressors: Compressors,
): AsyncGenerator<RecordColumns> {
  const eventTable = await TableReader.open(events, compressors);
  const levelTable = await TableReader.open(levels, compressors);
  let row = 0;
  let level = 0;
  for (const group of eventTable.metadata.row_groups) {
    const rowEnd = row + Number(group.num_rows);
    const rows = await eventTable.read(EVENT_COLUMNS, row, rowEnd);
    const levelCount = column(rows, 'levelCount');
    let levelEnd = level;
    for (let i = 0; i < levelCount.length; i++) levelEnd += levelCount[i] ?? 0;
    if (levelEnd > levelTable.rows) {
      throw new TapeError(`${levels.name}: fewer levels than ${events.name} refers to`);
    }
    const pairs = await levelTable.read(LEVEL_COLUMNS, level, levelEnd);
    yield {
      kind: column(rows, 'kind'),
      timeUs: column(rows, 'timeUs'),
      localUs: column(rows, 'localUs'),
      line: column(rows, 'line'),
      lastId: column(rows, 'lastId'),
      firstId: column(rows, 'firstId'),
      prevId: column(rows, 'prevId'),
      levelCount,
      price: column(pairs, 'price'),
      lots: column(pairs, 'lots'),
    };
    row = rowEnd;
    level = levelEnd;
  }
  if (level !== levelTable.rows) {
    throw new TapeError(`${levels.name}: more levels than ${events.name} refers to`);
  }
}

function column(columns: ReadonlyMap<string, Numbers>, name: string): Numbers {
  return must(columns.get(name), 'columns are read by name');
}

class TableReader {
  readonly metadata: FileMetaData;
  readonly rows: number;
  private readonly table: PartTable;
  private readonly compressors: Compressors;

  private constructor(table: PartTable, metadata: FileMetaData, compressors: Compressors) {
    this.table = table;
    this.metadata = metadata;
    this.rows = Number(metadata.num_rows);
    this.compressors = compressors;
  }

  static async open(table: PartTable, compressors: Compressors): Promise<TableReader> {
    const metadata = await named(table.name, () => parquetMetadataAsync(table.bytes));
    return new TableReader(table, metadata, compressors);
  }

  /** Columns of the rows in [start, end). */
  async read(
    columns: readonly { readonly name: string }[],
    start: number,
    end: number,
  ): Promise<Map<string, Numbers>> {
    const parts = new Map<string, Numbers[]>(columns.map(({ name }) => [name, []]));
    if (end > start) {
      await named(this.table.name, () =>
        parquetRead({
          file: this.table.bytes,
          metadata: this.metadata,
          compressors: this.compressors,
          rowStart: start,
          rowEnd: end,
          columns: columns.map(({ name }) => name),
          onChunk: ({ columnName, columnData, rowStart, rowEnd }) => {
            const from = Math.max(start, rowStart) - rowStart;
            const to = Math.min(end, rowEnd) - rowStart;
            if (to > from) parts.get(columnName)?.push(numbers(columnData, from, to));
          },
        }),
      );
    }
    const whole = new Map<string, Numbers>();
    for (const [name, chunks] of parts) whole.set(name, joined(chunks));
    for (const [name, values] of whole) {
      if (values.length !== end - start) {
        throw new TapeError(`${this.table.name}: column ${name} is short`);
      }
    }
    return whole;
  }
}

async function named<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TapeError) throw error;
    throw new TapeError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * Whole numbers of a decoded chunk. 64-bit numbers are composed of their halves, because a bigint
 * each costs ten times as much. If all fit 32 bits they stay small integers, which V8 does not box.
 */
function numbers(data: DecodedArray, from: number, to: number): Numbers {
  if (data instanceof Int32Array) return data.subarray(from, to);
  if (data instanceof BigInt64Array) {
    const halves = new Int32Array(data.buffer, data.byteOffset + 8 * from, 2 * (to - from));
    return smallNumbers(halves) ?? largeNumbers(halves);
  }
  const values = new Float64Array(to - from);
  const list = data as ArrayLike<number | bigint>;
  for (let i = from; i < to; i++) values[i - from] = Number(list[i] ?? 0);
  return values;
}

/** Null if a number needs more than 32 bits. */
function smallNumbers(halves: Int32Array): Int32Array | null {
  const values = new Int32Array(halves.length / 2);
  for (let i = 0; i < values.length; i++) {
    const low = halves[2 * i] ?? 0;
    if (halves[2 * i + 1] !== low >> 31) return null;
    values[i] = low;
  }
  return values;
}

function largeNumbers(halves: Int32Array): Float64Array {
  const values = new Float64Array(halves.length / 2);
  for (let i = 0; i < values.length; i++) {
    values[i] = (halves[2 * i + 1] ?? 0) * 2 ** 32 + ((halves[2 * i] ?? 0) >>> 0);
  }
  return values;
}

function joined(chunks: readonly Numbers[]): Numbers {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const values = new Float64Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    values.set(chunk, at);
    at += chunk.length;
  }
  return values;
}
