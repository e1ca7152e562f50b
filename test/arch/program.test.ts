/** The bundled command (`.ci/program.mjs`): modules keep their addresses and their identities. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
// @ts-expect-error: a module of the build scripts, without types
import * as bundling from '../../.ci/program.mjs';

const { withAddress, namesOfProgram } = bundling as {
  readonly withAddress: (source: string, address: string) => string;
  readonly namesOfProgram: () => ReadonlySet<string>;
};

const FOLDER = fileURLToPath(new URL('../../dist/program/', import.meta.url));

/** One file with copies of what it needs. */
const THREAD = 'tape-files-column-worker.js';
const textOf = (name: string): string => readFileSync(`${FOLDER}${name}`, 'utf8');

// The folder may also have files of former builds.
const files = [...namesOfProgram()].filter((name) => name !== THREAD).map(textOf);

test('a module gets the address of its build, and texts stay as they are', () => {
  const source = `
    export const here: string = new URL('.', import.meta.url).href;
    export const text = 'import.meta.url';
    export class Field { constructor() { void import.meta.url.length; } }`;
  const bundled = withAddress(source, 'ADDRESS');
  expect(bundled).toContain('new URL(".", ADDRESS)');
  expect(bundled).toContain('"import.meta.url"');
  expect(bundled).toContain('ADDRESS.length');
  expect(bundled).not.toContain(': string');
});

test('the file of the command can be executed, as `npx orrery` does after each build', () => {
  const { mode } = statSync(fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url)));
  expect(mode & 0o111).not.toBe(0);
});

test('addresses of the bundle are built modules', () => {
  const addresses = files
    .flatMap((text) => [...text.matchAll(/new URL\("(\.\.\/[\w/-]+\.js)", import\.meta\.url\)/g)])
    .map(([, path = '']) => path);
  expect(new Set(addresses).size).toBeGreaterThan(10);
  for (const path of addresses)
    expect([path, existsSync(`${FOLDER}${path}`)]).toEqual([path, true]);
});

test('the engine and its errors are those that the library has', () => {
  const all = files.join('\n');
  const imported = [...all.matchAll(/ from "(\.\.\/.+)";/g)].map(([, path]) => path);
  expect([...new Set(imported)].sort()).toEqual([
    '../base/assert.js',
    '../base/user-error.js',
    '../linked.js',
  ]);
  // Of the engine's modules the bundle has imports only.
  const inner = all.matchAll(/^\/\/ (src\/(?:base|num|engine)\/.+)\n(?!import )/gm);
  expect([...inner].map(([, module]) => module)).toEqual([]);
});

test('the thread that decodes loads packages of its own, and no engine', () => {
  expect(namesOfProgram().has(THREAD)).toBe(true);
  const imported = [...textOf(THREAD).matchAll(/ from "(.+)";/g)].map(([, path = '']) => path);
  expect(imported.filter((path) => !path.startsWith('node:'))).toEqual(['hyparquet']);
});
