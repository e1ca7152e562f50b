/** Binary tables whose rows are one row group or one record batch are read in parts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, expect, test } from 'vitest';
import { arrowRows, parquetRows } from '../../src/tape-files/table-rows.ts';

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
