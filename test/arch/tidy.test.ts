/** Repository rules as a test. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getFileInfo } from 'prettier';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(root + file));
const sources = files.filter((file) => /^(src|test)\/.*\.tsx?$/.test(file));
const text = (file: string): string => readFileSync(root + file, 'utf8');
const offenders = (among: readonly string[], isBad: (file: string) => boolean): string[] =>
  among.filter(isBad);

test('file names are kebab-case', () => {
  expect(
    offenders(
      sources,
      (file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d)?\.tsx?$/.test(basename(file)),
    ),
  ).toEqual([]);
});

test('the formatter ignores no source', async () => {
  const ignored: string[] = [];
  for (const file of sources) {
    const info = await getFileInfo(file, { ignorePath: `${root}.prettierignore` });
    if (info.ignored) ignored.push(file);
  }
  expect(ignored).toEqual([]);
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

const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
/** Scripts by `npm run <name>` in a text, over line breaks of prose. */
const scriptsNamed = (prose: string): string[] =>
  [...prose.matchAll(/npm run\s+([\w:-]+)/g)].map(([, name]) => name ?? '');

test('documents and workflows name npm scripts that exist', () => {
  const documents = files.filter((file) => /^([^/]+|docs\/.*|\.ci\/.*|\.github\/.*)$/.test(file));
  const named = documents
    .filter((file) => /\.(md|mjs|ya?ml)$|^\.ci\/run$/.test(file))
    .flatMap((file) => scriptsNamed(text(file)).map((name) => ({ file, name })));
  expect(new Set(named.map(({ name }) => name))).toContain('bench:http');
  expect(named.filter(({ name }) => !(name in scripts))).toEqual([]);
});

test('every npm script is named in a document', () => {
  const documents = files.filter((file) => /^[A-Z]+\.md$|^docs\/.*\.md$/.test(file));
  const named = new Set(documents.flatMap((file) => scriptsNamed(text(file))));
  const run = Object.keys(scripts).filter((name) => name !== 'test' && !name.startsWith('pre'));
  expect(run.filter((name) => !named.has(name))).toEqual([]);
});

test('finds names of scripts with colons, and at a line break', () => {
  expect(scriptsNamed('`npm run a:b`, `npm run\nc-d`.')).toEqual(['a:b', 'c-d']);
});
