/** Repository rules as a test. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(root + file));
const sources = files.filter((file) => /^(src|test)\/.*\.ts$/.test(file));
const text = (file: string): string => readFileSync(root + file, 'utf8');
const offenders = (among: readonly string[], isBad: (file: string) => boolean): string[] =>
  among.filter(isBad);

test('file names are kebab-case', () => {
  expect(
    offenders(sources, (file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?\.ts$/.test(basename(file))),
  ).toEqual([]);
});

test('a source file holds one idea: at most 500 lines, tables apart', () => {
  const tables = ['src/engine/tape/log-table.ts', 'src/contract/schemas.ts'];
  const long = offenders(
    sources.filter((file) => file.startsWith('src/') && !tables.includes(file)),
    (file) => text(file).trimEnd().split('\n').length > 500,
  );
  expect(long).toEqual([]);
});

test('src has no TODO', () => {
  const marks = new RegExp(['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|'));
  expect(
    offenders(
      sources.filter((file) => file.startsWith('src/')),
      (file) => marks.test(text(file)),
    ),
  ).toEqual([]);
});

test('no test is skipped or empty', () => {
  const dodges = new RegExp(
    ['\\.sk' + 'ip\\(', '\\.on' + 'ly\\(', '\\.to' + 'do\\(', 'expect\\(tr' + 'ue\\)'].join('|'),
  );
  expect(
    offenders(
      sources.filter((file) => file.endsWith('.test.ts')),
      (file) => dodges.test(text(file)),
    ),
  ).toEqual([]);
});

test('no file names a machine path', () => {
  const paths = new RegExp(
    ['/wo' + 'rk/(main|shared)', '/ho' + 'me/[a-z]+/', '/ro' + 'ot/'].join('|'),
  );
  const readable = files.filter((file) => /\.(ts|mjs|cjs|json|md|yaml)$/.test(file));
  expect(offenders(readable, (file) => paths.test(text(file)))).toEqual([]);
});

test('comments and rules cite documents of this repository', () => {
  const outside = new RegExp(
    ['DES' + 'IGN(\\.md)? §', 'RULE' + 'BOOK', "rule: 'ST" + "YLE'"].join('|'),
  );
  expect(offenders(sources, (file) => outside.test(text(file)))).toEqual([]);
});

test('the committed dataset stays small and carries its licence', () => {
  expect(text('data/LICENSE.md')).toContain('MIT License');
  const sizes = files
    .filter((file) => file.startsWith('data/'))
    .map((file) => readFileSync(root + file).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(8 * 1024 * 1024);
});

test('the README names commands that exist', () => {
  const scripts = (JSON.parse(text('package.json')) as { scripts: Record<string, string> }).scripts;
  const named = [...text('README.md').matchAll(/npm run ([a-z]+)/g)].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});
