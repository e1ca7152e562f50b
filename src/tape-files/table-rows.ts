/** Parquet and Arrow tables as rows of text with a header row, for the same decoders as CSV. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Data, DataType, Vector } from 'apache-arrow';
import {
  parquetMetadataAsync,
  parquetRead,
  type DecodedArray,
  type FileMetaData,
  type SchemaElement,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { must } from '../base/assert.ts';
import { TapeError } from '../tape/record.ts';
import { sizeOfFile } from './byte-source.ts';
import { fileBuffer, gunzipPage } from './part-files.ts';
import { fileError } from '../platform/file-error.ts';
import { lz4Whole } from './lz4-frame.ts';
import { zstdWhole } from './zstd-frame.ts';

/** Receives, with the header row, whether each column is of text. */
export type OnColumns = (isText: readonly boolean[]) => void;

/** Max rows of a batch: some tools write all rows as one row group or as one record batch. */
const MOST_ROWS = 131_072;
/**
 * Rows of a row group that are decoded at a time, at the least. A page is decoded again in each
 * part that it reaches, so a larger group has larger parts.
 */
const PART_ROWS = 262_144;
const MOST_PARTS = 16;
/** Max decompressed size of a column of an Arrow record batch. */
const MOST_BYTES = 1 << 30;

/** Rows of a Parquet file, a part of a row group at a time. */
export async function* parquetRows(
  path: string,
  onProgress: (fraction: number) => void,
  onColumns?: OnColumns,
): AsyncGenerator<string[][]> {
  await sizeOfFile(path);
  const file = await open(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  try {
    const bytes = await fileBuffer(file);
    if (bytes.byteLength === 0) throw new TapeError('not a Parquet file: it is empty');
    const metadata = await parquetMetadataAsync(bytes);
    const [, ...columns] = metadata.schema;
    if (columns.some(({ num_children: children }) => (children ?? 0) > 0)) {
      throw new TapeError('nested columns; a flat table is expected');
    }
    onColumns?.(columns.map(isParquetText));
    yield [columns.map(({ name }) => name)];
    const names = columns.map(({ name }) => name);
    const total = Number(metadata.num_rows);
    let start = 0;
    for (const end of endsOf(metadata)) {
      const read = columns.map((column): ReadColumn => ({ text: parquetText(column), pages: [] }));
      await parquetRead({
        file: bytes,
        metadata,
        parsers: PARSERS,
        compressors: { ...compressors, GZIP: gunzipPage, ZSTD: zstdWhole },
        rowStart: start,
        rowEnd: end,
        onChunk: ({ columnName, columnData: values, rowStart: firstRow }) => {
          read[names.indexOf(columnName)]?.pages.push({ firstRow, values });
        },
      });
      for (let next; start < end; start = next) {
        next = Math.min(end, start + MOST_ROWS);
        yield textRows(read, start, next);
        onProgress(next / total);
      }
    }
  } catch (error) {
    if (error instanceof TapeError) throw error;
    throw new TapeError(`not a Parquet file: ${faultOf(error)}`);
  } finally {
    await file.close();
  }
}

/** Decoded pages of a column, in order. */
interface ReadColumn {
  readonly text: TextOf;
  readonly pages: { readonly firstRow: number; readonly values: DecodedArray }[];
}

/** Text takes several times the memory of values: only that of some rows exists at a time. */
function textRows(columns: readonly ReadColumn[], from: number, to: number): string[][] {
  const rows = Array.from({ length: to - from }, () => columns.map(() => ''));
  columns.forEach(({ text, pages }, column) => {
    for (const { firstRow, values } of pages) {
      const end = Math.min(to, firstRow + values.length);
      for (let i = Math.max(from, firstRow); i < end; i++) {
        must(rows[i - from], 'a row of the range')[column] = text(values[i - firstRow]);
      }
    }
  });
  return rows;
}

/** Ends of the ranges that are read: those of the row groups, and of their parts. */
function* endsOf({ row_groups: groups }: FileMetaData): Generator<number> {
  let start = 0;
  for (const group of groups) {
    const rows = Number(group.num_rows);
    const end = start + rows;
    const part = Math.max(PART_ROWS, Math.ceil(rows / MOST_PARTS));
    while (end - start > part) yield (start += part);
    if (end > start) yield (start = end);
  }
}

/** Rows of an Arrow IPC file or stream, of which one record batch is in memory. */
export async function* arrowRows(
  path: string,
  onProgress: (fraction: number) => void,
  onColumns?: OnColumns,
): AsyncGenerator<string[][]> {
  const arrow = await import('apache-arrow');
  const { CompressionType, RecordBatchReader, compressionRegistry } = arrow;
  compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: (b) => lz4Whole(b, MOST_BYTES) });
  // A copy is aligned to 8 bytes, as 64-bit columns require.
  compressionRegistry.set(CompressionType.ZSTD, {
    decode: (bytes) => zstdWhole(bytes, MOST_BYTES).slice(),
  });
  await sizeOfFile(path);
  const source = createReadStream(path);
  try {
    const reader = await RecordBatchReader.from(source);
    await reader.open();
    // A source that ends early has no schema, whatever the types say.
    const schema = reader.schema as typeof reader.schema | undefined;
    if (schema === undefined) throw new TapeError('not Arrow IPC data: it has no schema');
    const { fields } = schema;
    onColumns?.(fields.map(({ type }) => isArrowText(arrow, type as DataType)));
    yield [fields.map(({ name }) => name)];
    for await (const batch of reader) {
      const columns = batch.schema.fields.map((field, i) =>
        arrowText(arrow, field.type as DataType, batch.getChildAt(i)),
      );
      for (let from = 0; from < batch.numRows; from += MOST_ROWS) {
        const rows: string[][] = [];
        const end = Math.min(batch.numRows, from + MOST_ROWS);
        for (let i = from; i < end; i++) rows.push(columns.map((text) => text(i)));
        yield rows;
      }
      onProgress(0.5);
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code?.startsWith('ERR_') === false) throw fileError(path, error);
    if (error instanceof TapeError) throw error;
    throw new TapeError(`not Arrow IPC data: ${faultOf(error)}`);
  } finally {
    source.destroy();
  }
}

const faultOf = (error: unknown): string => (error instanceof Error ? error.message : '');

function isParquetText({
  converted_type: converted,
  logical_type: logical,
}: SchemaElement): boolean {
  return converted === 'UTF8' || converted === 'ENUM' || logical?.type === 'STRING';
}

/** Also of dictionaries, as which pandas writes categories. */
function isArrowText({ DataType: Types }: Arrow, type: DataType): boolean {
  const own = Types.isDictionary(type) ? (type.dictionary as DataType) : type;
  return Types.isUtf8(own) || Types.isLargeUtf8(own);
}

type TextOf = (value: unknown) => string;

const asIs = (time: bigint): bigint => time;

/** Times stay numbers until their row is read. */
const PARSERS = {
  timestampFromMilliseconds: asIs,
  timestampFromMicroseconds: asIs,
  timestampFromNanoseconds: asIs,
};

/** Conversion of a column's values to text. */
function parquetText(column: SchemaElement): TextOf {
  const { type, converted_type: converted, logical_type: logical, scale } = column;
  const unit = logical?.type === 'TIMESTAMP' ? logical.unit : undefined;
  if (converted === 'TIMESTAMP_MILLIS') return timeText((ms) => dateText(ms * 1000n));
  if (converted === 'TIMESTAMP_MICROS') return timeText(dateText);
  if (type === 'INT96' || unit === 'NANOS') return timeText(nanosecondText);
  if (unit === 'MICROS') return timeText(dateText);
  if (unit !== undefined) return timeText((ms) => dateText(ms * 1000n));
  if (type === 'FIXED_LEN_BYTE_ARRAY' && converted === undefined) return hexText;
  if (converted === 'DECIMAL') {
    return (value) => (typeof value === 'number' ? value.toFixed(scale ?? 0) : textOf(value));
  }
  return type === 'FLOAT' ? float32Text : textOf;
}

const timeText =
  (text: (time: bigint) => string): TextOf =>
  (value) =>
    typeof value === 'bigint' ? text(value) : textOf(value);

type Arrow = typeof import('apache-arrow');

/** Text of a column's value in a row. */
function arrowText(
  { DataType: Types, Precision, TimeUnit }: Arrow,
  type: DataType,
  column: Vector | null,
): (row: number) => string {
  const at = (row: number): unknown => column?.get(row);
  if (Types.isTimestamp(type)) {
    const data = column?.data[0] as Data<typeof type> | undefined;
    const perUnit = {
      [TimeUnit.SECOND]: 1_000_000_000n,
      [TimeUnit.MILLISECOND]: 1_000_000n,
      [TimeUnit.MICROSECOND]: 1000n,
      [TimeUnit.NANOSECOND]: 1n,
    } as const;
    const times = perUnit[type.unit];
    return (row) => {
      const raw = data?.getValid(row) === true ? data.values[row] : undefined;
      return raw === undefined ? '' : nanosecondText(raw * times);
    };
  }
  if (Types.isDate(type)) {
    return (row) => {
      const value = at(row);
      return value === null ? '' : dateText(BigInt(Number(value)) * 1000n);
    };
  }
  if (Types.isDecimal(type)) {
    const { scale } = type;
    return (row) => {
      const value = at(row);
      return value === null ? '' : withScale((value as { toString(): string }).toString(), scale);
    };
  }
  if (Types.isFloat(type) && type.precision !== Precision.DOUBLE)
    return (row) => float32Text(at(row));
  return (row) => textOf(at(row));
}

/** Places the decimal point: `-5001` with scale 2 is `-50.01`. */
function withScale(digits: string, scale: number): string {
  const sign = digits.startsWith('-') ? '-' : '';
  const bare = digits.slice(sign.length).padStart(scale + 1, '0');
  if (scale === 0) return sign + bare;
  return `${sign}${bare.slice(0, -scale)}.${bare.slice(-scale)}`;
}

/** Shortest digits of a 32-bit float: 0.1, not 0.10000000149011612. */
function float32Text(value: unknown): string {
  if (typeof value !== 'number' || !Number.isFinite(value)) return textOf(value);
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

/** Microseconds since 1970 as an ISO 8601 date. */
function dateText(us: bigint): string {
  const ms = new Date(Number(us / 1000n));
  if (Number.isNaN(ms.getTime()) || us < 0n) return String(us);
  return `${ms.toISOString().slice(0, -1)}${String(us % 1000n).padStart(3, '0')}Z`;
}

/** As `dateText`, with three more digits where the time is finer than a microsecond. */
function nanosecondText(ns: bigint): string {
  const text = dateText(ns / 1000n);
  const rest = ns % 1000n;
  if (rest === 0n || !text.endsWith('Z')) return text;
  return `${text.slice(0, -1)}${String(rest).padStart(3, '0')}Z`;
}

/** Bytes without a type of their own; they are never shown as characters. */
function hexText(value: unknown): string {
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : textOf(value);
}

/** A value as text, as in a CSV file. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return JSON.stringify(value);
  }
}
