/** Builds of the bundled command beside processes that use it, in a folder with small sources. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ENTRIES = [
  'cli/main',
  'cli/fuzz/worker',
  'cli/exhaust/worker',
  'search/workers/trial-worker',
  'journal-files/snapshot-worker',
  'tape-files/column-worker',
];
const DAY_MS = 86_400_000;

let folder = '';

const program = (...names: string[]) => join(folder, 'dist', 'program', ...names);
const parts = () => readdirSync(program()).filter((name) => name.startsWith('part-'));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/** Builds after a change of the module that the command loads when it needs it. */
function build(part?: string): void {
  if (part !== undefined) write('src/part.ts', `export const part = '${part}';\n`);
  execFileSync(process.execPath, [join(folder, '.ci', 'program.mjs')], { encoding: 'utf8' });
}

function setTime(name: string, ms: number): void {
  utimesSync(program(name), ms / 1000, ms / 1000);
}

const printed = () =>
  execFileSync(process.execPath, [join(folder, 'dist', 'cli', 'main.js')], { encoding: 'utf8' });

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'orrery-program-')));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  cpSync(join(ROOT, '.ci'), join(folder, '.ci'), { recursive: true });
  cpSync(join(ROOT, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  write('package.json', '{ "type": "module" }');
  for (const entry of ENTRIES) {
    write(`src/${entry}.ts`, 'export {};\n');
    write(`dist/${entry}.js`, '');
  }
  write('src/cli/main.ts', "console.log((await import('../part.ts')).part);\n");
  build('first');
});

test('a process that began before a build finds what it loads later', () => {
  expect(printed()).toBe('first\n');
  const former = parts();
  build('second');
  expect(printed()).toBe('second\n');
  expect(parts()).toEqual(expect.arrayContaining(former));
});

test('a file of a former build is removed a day after another one replaced it', () => {
  const [former = ''] = parts();
  // The build itself may be old: the day begins when it is replaced.
  setTime(former, Date.now() - 3 * DAY_MS);
  build('second');
  expect(parts()).toContain(former);
  setTime(former, Date.now() - 2 * DAY_MS);
  build('third');
  expect(parts()).not.toContain(former);
  expect(printed()).toBe('third\n');
});

test('a build with a file missing is not taken as a build', () => {
  const [part = ''] = parts();
  rmSync(program(part));
  build();
  expect(existsSync(program(part))).toBe(true);
});

test('a file that another build is about to rename stays', () => {
  const partial = 'part-AAAAAAAA.js.12345';
  writeFileSync(program(partial), '');
  build('second');
  expect(existsSync(program(partial))).toBe(true);
});

test('a package is built before, without files of former builds', () => {
  const former = parts();
  build('second');
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: object;
  };
  write('.ci/setup.mjs', "console.log('is built');\n");
  write('package.json', JSON.stringify({ name: 'x', version: '1.0.0', type: 'module', scripts }));
  const printing = execFileSync('npm', ['pack', '--dry-run'], { cwd: folder, encoding: 'utf8' });
  expect(printing).toContain('is built');
  expect(parts()).not.toEqual(expect.arrayContaining(former));
  expect(printed()).toBe('second\n');
});
