/** Binary tables whose rows are one row group or one record batch are read in parts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, expect, test } from 'vitest';
import { arrowRows, parquetRows } from '../../src/tape-files/table-rows.ts';
import { zstdWhole } from '../../src/tape-files/zstd-frame.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-table-rows-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const ROWS = 300_000;
const PART = 131_072;
const prices = Float64Array.from({ length: ROWS }, (_, i) => i / 2);
const sides = Array.from({ length: ROWS }, (_, i) => (i % 3 === 0 ? 'buy' : 'sell'));

test.each([
  [
    'parquet',
    parquetRows,
    () =>
      new Uint8Array(
        parquetWriteBuffer({
          columnData: [
            { name: 'price', data: prices },
            { name: 'side', data: sides },
          ],
          rowGroupSize: [ROWS - 5, 5],
        }),
      ),
    [1, PART, PART, ROWS - 5 - 2 * PART, 5],
  ],
  [
    'arrow',
    arrowRows,
    () => tableToIPC(tableFromArrays({ price: prices, side: sides })),
    [1, PART, PART, ROWS - 2 * PART],
  ],
] as const)('%s', async (name, read, bytes, sizes) => {
  const path = join(folder, `rows.${name}`);
  writeFileSync(path, bytes());
  const found: number[] = [];
  let row = -1;
  for await (const batch of read(path, () => undefined)) {
    found.push(batch.length);
    for (const cells of batch) {
      const expected = row < 0 ? 'price,side' : `${String(row / 2)},${sides[row] ?? ''}`;
      if (cells.join() !== expected) expect(cells.join(), String(row)).toBe(expected);
      row += 1;
    }
  }
  expect(found).toEqual(sizes);
  expect(row).toBe(ROWS);
});

test('a batch of Parquet has at most 131072 rows, however large the row group is', async () => {
  const path = join(folder, 'large.parquet');
  const count = 17 * PART;
  const columnData = [{ name: 'size', data: new Int32Array(count) }];
  writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: count })));
  const found: number[] = [];
  for await (const batch of parquetRows(path, () => undefined)) found.push(batch.length);
  expect(Math.max(...found)).toBe(PART);
  expect(found.reduce((sum, rows) => sum + rows)).toBe(1 + count);
});

/** A frame of `count` blocks of 128 KiB, each of one repeated byte. */
function zstdBomb(count: number): Uint8Array {
  const header = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x38];
  const blocks = Array.from({ length: count }, (_, i) => {
    const word = (131_072 << 3) | 2 | (i === count - 1 ? 1 : 0);
    return [word & 255, (word >> 8) & 255, word >> 16, 0];
  });
  return Uint8Array.from([header, ...blocks].flat());
}

test('a page of Parquet is not decompressed beyond the size that its header states', async () => {
  const path = join(folder, 'bomb.parquet');
  const bombs = {
    GZIP: () => new Uint8Array(gzipSync(Buffer.alloc(1 << 24))),
    ZSTD: () => zstdBomb(128),
  };
  const messages = {
    GZIP: 'a page has more than the 800 bytes that its header states',
    ZSTD: 'compressed data have more than the 800 bytes allowed',
  };
  for (const codec of ['GZIP', 'ZSTD'] as const) {
    const columnData = [{ name: 'price', data: Float64Array.from({ length: 100 }, (_, i) => i) }];
    writeFileSync(
      path,
      new Uint8Array(parquetWriteBuffer({ columnData, codec, compressors: bombs })),
    );
    const read = async (): Promise<void> => {
      for await (const rows of parquetRows(path, () => undefined)) expect(rows).toHaveLength(1);
    };
    await expect(read(), codec).rejects.toThrow(messages[codec]);
  }
});

test('a column of Arrow is not decompressed beyond its limit', () => {
  expect(zstdWhole(zstdBomb(8), 1 << 20).length).toBe(1 << 20);
  expect(() => zstdWhole(zstdBomb(9), 1 << 20)).toThrow('have more than the 1048576 bytes allowed');
});
