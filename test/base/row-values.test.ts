import { describe, expect, it } from 'vitest';
import { RowValues } from '../../src/base/row-values.ts';

const CHURNS = 3000;

interface Values {
  set(row: number, value: string): unknown;
  delete(row: number): unknown;
}

/** Least time of setting and deleting one row, beside so many rows that stay. */
function churnMs(make: () => Values, rows: number): number {
  const times = Array.from({ length: 5 }, () => {
    const values = make();
    for (let row = 0; row < rows; row++) values.set(row, 'kept');
    const startedMs = performance.now();
    for (let i = 0; i < CHURNS; i++) {
      values.set(rows, 'a');
      values.delete(rows);
    }
    return performance.now() - startedMs;
  });
  return Math.min(...times);
}

const growth = (make: () => Values): number => churnMs(make, 20_000) / churnMs(make, 10);

describe('values of rows', () => {
  it('keeps the value of each row, and counts them', () => {
    const values = new RowValues<string>();
    expect([values.size, values.has(3), values.get(3)]).toEqual([0, false, undefined]);
    values.set(3, 'a');
    values.set(3, 'b');
    values.set(4, 'c');
    expect([values.size, values.has(3), values.get(3)]).toEqual([2, true, 'b']);
    values.delete(3);
    values.delete(3);
    values.delete(5);
    expect([values.size, values.has(3), values.get(3)]).toEqual([1, false, undefined]);
    values.set(3, 'd');
    expect([values.size, values.get(3), values.get(4)]).toEqual([2, 'd', 'c']);
  });

  it('reuses a row in a time that does not depend on the number of rows', () => {
    expect(growth(() => new RowValues<string>())).toBeLessThan(10);
  });

  it('would see a map whose deleted entries stay in its chains', () => {
    expect(growth(() => new Map<number, string>())).toBeGreaterThan(10);
  });
});
