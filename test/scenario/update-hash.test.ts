/** Writing a state hash into a scenario preserves all other text. */
import { expect, it } from 'vitest';
import { withStateHash } from '../../src/scenario/update-hash.ts';

const OLD = '1'.repeat(64);
const NEW = '2'.repeat(64);

it.each([
  [
    'in place of the old one',
    `a: 1\nexpect:\n  stateHash: ${OLD} # why\n  x: 1\n`,
    `a: 1\nexpect:\n  stateHash: ${NEW} # why\n  x: 1\n`,
  ],
  [
    'at the end of the expectations',
    'expect:\n  x:\n    y: 1 # why\n\nsteps: []\n',
    `expect:\n  x:\n    y: 1 # why\n  stateHash: ${NEW}\n\nsteps: []\n`,
  ],
  [
    'after a list',
    'expect:\n  x: [1,\n    2]\n',
    `expect:\n  x: [1,\n    2]\n  stateHash: ${NEW}\n`,
  ],
  [
    'after a last line without a line break',
    'expect:\n  x: 1',
    `expect:\n  x: 1\n  stateHash: ${NEW}\n`,
  ],
  ['into braces', 'expect: { x: 1 } # why\n', `expect: { stateHash: ${NEW}, x: 1 } # why\n`],
  [
    'into a scenario without expectations',
    'a: "b"  # why',
    `a: "b"  # why\n\nexpect:\n  stateHash: ${NEW}\n`,
  ],
  [
    'into a document in braces',
    '--- { a: 1, b: 2 } # why\n',
    `--- { expect: { stateHash: ${NEW} }, a: 1, b: 2 } # why\n`,
  ],
  [
    'before the end of a document',
    'a: 1\nsteps: []\n...\n# why\n',
    `a: 1\nsteps: []\n\nexpect:\n  stateHash: ${NEW}\n...\n# why\n`,
  ],
  [
    'below the keys of an indented document',
    '  a: 1\n  b: 2\n',
    `  a: 1\n  b: 2\n\n  expect:\n    stateHash: ${NEW}\n`,
  ],
])('%s', (_, text, expected) => {
  expect(withStateHash(text, NEW)).toBe(expected);
});
