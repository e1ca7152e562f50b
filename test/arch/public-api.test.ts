/** The entries of the package, and the report that `npm run check` compares. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orrery-api-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const MODULE = 'public-api.mjs';
let apiReport: (folder: string) => string;
beforeAll(async () => {
  ({ apiReport } = (await import(`${root}.ci/${MODULE}`)) as {
    apiReport: (folder: string) => string;
  });
});

const ENTRY = `
import type { Inner } from './inner.ts';
export { helper as help } from './inner.ts';
/** A comment. */
export class Thing {
  private readonly secret = 1;
  inner(): Inner | null { return this.secret > 1 ? { field: 1 } : null; }
}
`;
const INNER = `
export interface Inner { readonly field: number }
export function helper(): Hidden { return new Hidden(); }
/** @internal */
export class Hidden { readonly detail = 1; }
`;

function report(entry = ENTRY, inner = INNER): string {
  const { compilerOptions } = JSON.parse(readFileSync(`${root}tsconfig.json`, 'utf8')) as {
    compilerOptions: object;
  };
  const options = { ...compilerOptions, types: [] };
  mkdirSync(join(folder, 'src'), { recursive: true });
  const files = {
    'tsconfig.json': JSON.stringify({ compilerOptions: options, include: ['src'] }),
    'package.json': JSON.stringify({
      name: 'sample',
      type: 'module',
      exports: { './part': { types: './dist/index.d.ts' }, './package.json': './package.json' },
    }),
    'src/index.ts': entry,
    'src/inner.ts': inner,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return apiReport(folder);
}

test('the report has exported names and what they refer to, without private parts', () => {
  const text = report();
  expect(text).toContain('## sample/part\n\n```\nThing\nhelp\n```');
  expect(text).toContain('interface Inner {\n    readonly field: number;\n}');
  expect(text).toContain('/* internal */ Hidden;');
  expect(text).not.toMatch(/secret|comment|detail/);
});

test.each([
  ['an exported method', ENTRY.replace('inner():', 'outer():'), INNER],
  ['a type that it returns', ENTRY, INNER.replace('field: number', 'field: number | string')],
  ['a name', ENTRY.replace('helper as help', 'helper'), INNER],
])('%s that changes changes the report', (_what, entry, inner) => {
  expect(report(entry, inner)).not.toBe(report());
});

test('a private part that changes does not', () => {
  expect(report(ENTRY.replaceAll('secret', 'other'), INNER.replace('detail', 'more'))).toBe(
    report(),
  );
});

test('the entries are the same for Node, the compiler of the tests, and the tests', () => {
  const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
    exports: Record<string, string | { types: string; default: string }>;
  };
  const { compilerOptions } = JSON.parse(readFileSync(`${root}tsconfig.test.json`, 'utf8')) as {
    compilerOptions: { paths: Record<string, string[]> };
  };
  const entries = Object.entries(exports).flatMap(([name, entry]) =>
    typeof entry === 'string' ? [] : [[`orrery${name.slice(1)}`, entry] as const],
  );
  const paths = entries.map(([name, entry]) => [
    name,
    [entry.types.replace(/^\.\/dist\/(.*)\.d\.ts$/, './src/$1.ts')],
  ]);
  expect(Object.fromEntries(paths)).toEqual(compilerOptions.paths);
  for (const [, entry] of entries) {
    expect(entry.default).toBe(entry.types.replace(/\.d\.ts$/, '.js'));
  }
});
