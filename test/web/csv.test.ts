/** CSV files of the screen are read by spreadsheets. */
import { expect, test } from 'vitest';
import { csvOf } from '../../src/web/csv.ts';

test.each([
  ['=1+1', "'=1+1"],
  ['@SUM(1)', "'@SUM(1)"],
  ['-1+cmd', "'-1+cmd"],
  ['+1-2', "'+1-2"],
  ['a\rb', '"a\rb"'],
  ['-1.5', '-1.5'],
  ['+0.25', '+0.25'],
  [-1e-7, '-1e-7'],
  [null, ''],
])('%j is written as %j', (value, cell) => {
  expect(csvOf(['x'], [{ x: value }])).toBe(`x\n${cell}\n`);
});
