import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFile, jsonPieces } from '../../src/platform/json-pieces.ts';

const joined = (value: unknown, indent: number): string => [...jsonPieces(value, indent)].join('');

test('the pieces of any plain data are the text of JSON.stringify', () => {
  const data = fc.anything({ maxDepth: 6, maxKeys: 6, withNullPrototype: true });
  fc.assert(
    fc.property(data, fc.integer({ min: 0, max: 3 }), (value, indent) => {
      // No JSON: a file has one value.
      fc.pre(value !== undefined);
      expect(joined(value, indent)).toBe(JSON.stringify(value, null, indent));
    }),
    { seed: 1, numRuns: 2000 },
  );
});

test('arrays of any length are split between their entries', () => {
  const row = { text: 'a "quoted"\nline', price: 0.1, tag: null, missing: undefined };
  for (const length of [0, 1, 63, 64, 65, 128, 129, 1000]) {
    const rows = Array.from({ length }, (_, i) => ({ ...row, i, marks: [i, [undefined, i]] }));
    const value = { rows, deep: [{ runs: [{ rows: [rows, rows] }] }], empty: {}, none: [] };
    const [text, ...indented] = [0, 1, 2].map((indent) => joined(value, indent));
    expect(text).toBe(JSON.stringify(value));
    for (const each of indented) expect(JSON.parse(each)).toEqual(JSON.parse(text ?? ''));
  }
});

test('in an indented text each entry of a long array has its line', () => {
  const rows = Array.from({ length: 65 }, (_, i) => ({ i, marks: [i, i] }));
  const entries = rows.map((row) => `  ${JSON.stringify(row)}`).join(',\n');
  expect(joined({ rows: [...rows] }, 1)).toBe(`{\n "rows": [\n${entries}\n ]\n}`);
  expect(
    joined([...rows.slice(0, 64), undefined], 2)
      .split('\n')
      .slice(-2),
  ).toEqual(['  null', ']']);
});

test('a long array has several pieces, and a file ends with a line break', () => {
  const rows = Array.from({ length: 1000 }, (_, i) => ({ i }));
  const pieces = [...jsonFile({ rows })];
  expect(pieces.length).toBeGreaterThan(10);
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1000);
  expect(pieces.at(-1)).toBe('\n');
});

test('a date is its text', () => {
  const value = { at: new Date(0), all: [new Date(1)] };
  expect(joined(value, 1)).toBe(JSON.stringify(value, null, 1));
});
