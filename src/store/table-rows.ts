/** Parquet and Arrow tables as rows of text, the names of their columns first: the same decoders read them as CSV. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { parquetMetadataAsync, parquetRead } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { TapeError } from '../sim/tape/record.ts';
import { fileBuffer } from './dataset-files.ts';
import { fileError } from './file-error.ts';

/** Rows of a Parquet file, a row group at a time. */
export async function* parquetRows(
  path: string,
  onProgress: (fraction: number) => void,
): AsyncGenerator<string[][]> {
  const file = await open(path).catch((error: unknown) => {
    throw fileError(path, error);
  });
  try {
    const bytes = await fileBuffer(file);
    const metadata = await parquetMetadataAsync(bytes);
    const [, ...columns] = metadata.schema;
    if (columns.some(({ num_children: children }) => (children ?? 0) > 0)) {
      throw new TapeError('nested columns; a flat table is expected');
    }
    yield [columns.map(({ name }) => name)];
    const total = Number(metadata.num_rows);
    let start = 0;
    for (const group of metadata.row_groups) {
      const end = start + Number(group.num_rows);
      let rows: string[][] = [];
      await parquetRead({
        file: bytes,
        metadata,
        compressors: { ...compressors, GZIP: (input) => gunzipSync(input) },
        rowStart: start,
        rowEnd: end,
        onComplete: (values) => {
          rows = values.map((row) => row.map(textOf));
        },
      });
      yield rows;
      start = end;
      onProgress(total === 0 ? 1 : start / total);
    }
  } catch (error) {
    if (error instanceof TapeError) throw error;
    throw new TapeError(`not a Parquet file: ${error instanceof Error ? error.message : ''}`);
  } finally {
    await file.close();
  }
}

/** Rows of an Arrow IPC file or stream, a record batch at a time. */
export async function* arrowRows(
  path: string,
  onProgress: (fraction: number) => void,
): AsyncGenerator<string[][]> {
  const { RecordBatchReader } = await import('apache-arrow');
  const source = createReadStream(path);
  try {
    const reader = await RecordBatchReader.from(source);
    await reader.open();
    yield [reader.schema.fields.map(({ name }) => name)];
    for await (const batch of reader) {
      const columns = batch.schema.fields.map((_field, i) => batch.getChildAt(i));
      const rows: string[][] = [];
      for (let i = 0; i < batch.numRows; i++) {
        rows.push(columns.map((column) => textOf(column?.get(i))));
      }
      yield rows;
      onProgress(0.5);
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code?.startsWith('ERR_') === false) throw fileError(path, error);
    if (error instanceof TapeError) throw error;
    const message = error instanceof Error ? error.message : '';
    if (message.includes('compressed but codec not found')) {
      throw new TapeError(
        'its record batches are compressed, which is not read here; write it without compression, or as Parquet, whose codecs are all read',
      );
    }
    throw new TapeError(`not Arrow IPC data: ${message}`);
  } finally {
    source.destroy();
  }
}

/** A value as the text that a CSV file would hold; times as microseconds. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return String(value.getTime() * 1000);
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
