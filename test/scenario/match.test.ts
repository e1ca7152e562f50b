/** Matching of expected against actual values, and descriptions of differences. */
import { describe, expect, it } from 'vitest';
import { differences, showValue } from '../../src/scenario/match-expectation.ts';
import { readYaml } from '../../src/scenario/read-yaml.ts';

function differ(expected: string, actual: unknown, exact = false): string[] {
  const read = readYaml(expected);
  if (!read.ok) throw new Error(read.problems[0]?.message);
  const options = { exact, resolve: (text: string) => text, show: showValue };
  return differences(read.root, actual, 'body', options).map(
    (found) => `${found.path}: ${found.expected} / ${found.actual}`,
  );
}

describe('an expectation matches', () => {
  it.each<[string, unknown]>([
    ['60000', '60000'],
    ['60000.10', '60000.1'],
    ['-0', '0'],
    ['5', 5],
    ['9223372036854775807', 9223372036854775807n],
    ['9007199254740993', 9007199254740993n],
    ['"text"', 'text'],
    ['"60000"', '60000'],
    ['true', true],
    ['null', null],
    ['{ a: 1 }', { a: '1', b: 2 }],
    ['[1, { a: x }]', ['1', { a: 'x', b: null }]],
    ['[]', []],
    ['{}', { a: 1 }],
  ])('%s with %o', (expected, actual) => {
    expect(differ(expected, actual)).toEqual([]);
  });
});

describe('an expectation differs', () => {
  it.each<[string, unknown, string]>([
    ['60000', '60000.1', 'body: 60000 / 60000.1'],
    ['9007199254740993', 9007199254740992n, 'body: 9007199254740993 / 9007199254740992'],
    ['"60000"', '60000.0', 'body: 60000 / 60000.0'],
    ['"5"', 5, 'body: "5" / 5'],
    ['5', 'five', 'body: 5 / five'],
    ['5', null, 'body: 5 / null'],
    ['null', undefined, 'body: null / (absent)'],
    ['true', 'true', 'body: true / "true"'],
    ['"true"', true, 'body: "true" / true'],
    ['"null"', null, 'body: "null" / null'],
    ['{ a: { b: 1 } }', { a: { b: 2 } }, 'body.a.b: 1 / 2'],
    ['{ a: 1 }', {}, 'body.a: 1 / (absent)'],
    ['{ __proto__: 1 }', {}, 'body.__proto__: 1 / (absent)'],
    ['{ toString: x }', {}, 'body.toString: x / (absent)'],
    ['[1]', [1, 2], 'body: 1 items: [1] / [1, 2]'],
    ['[1, 2]', [1, 3], 'body[1]: 2 / 3'],
    ['{ a: 1 }', [1], 'body: {a: 1} / [1]'],
    ['[1]', { 0: 1 }, 'body: [1] / {0: 1}'],
  ])('%s with %o', (expected, actual, difference) => {
    expect(differ(expected, actual)).toEqual([difference]);
  });

  it('in an unnamed key, if exact', () => {
    expect(differ('{ a: 1 }', { a: 1, b: 2 }, true)).toEqual(['body.b: (absent) / 2']);
  });

  it('once for each difference', () => {
    expect(differ('{ a: 1, b: 2 }', { a: 2, b: 1 })).toEqual(['body.a: 1 / 2', 'body.b: 2 / 1']);
  });
});
