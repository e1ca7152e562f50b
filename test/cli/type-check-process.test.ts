/** Commands check the types of a strategy before it runs. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const DATA = join(root, 'data', 'btcusdt-20240808');
const TYPESCRIPT = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
const scratch = mkdtempSync(join(tmpdir(), 'orrery-type-check-'));

// Many processes, each with a compiler.
vi.setConfig({ testTimeout: 180_000 });

beforeAll(() => {
  execFileSync(process.execPath, [join(root, '.ci', 'setup.mjs')], { stdio: 'ignore' });
});
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

function write(path: string, text: string): string {
  const file = join(scratch, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

function orrery(args: readonly string[], more: { state?: string; program?: string } = {}) {
  const { state = 'state', program = root } = more;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(program, 'dist', 'cli', 'main.js'), ...args],
    {
      cwd: scratch,
      encoding: 'utf8',
      timeout: 120_000,
      env: {
        ...process.env,
        ORRERY_STATE: join(scratch, state),
        ORRERY_KEY: `0x${'7'.repeat(64)}`,
      },
    },
  );
  return { status, stdout, stderr };
}

/** Checks the types, and then ends since there are no data. */
const CHECKED = ['--data', 'no-data'];
const NO_DATA = /^orrery: no-data\b.*\n$/;

const strategyOf = (body: string): string => `import { defineStrategy } from 'orrery/strategy';

export default defineStrategy({
  name: 'mine',
  parameters: {},
  create: () => {
    const closes: number[] = [];
    return { onBar(bar) { ${body} } };
  },
});
`;
const WRONG = strategyOf('if (closes.lenght > 2) closes.push(bar.close);');
const ERROR = `orrery: wrong.ts: 1 type error; --no-check runs it without this check
wrong.ts:8:38: Property 'lenght' does not exist on type 'number[]'. Did you mean 'length'?
        return { onBar(bar) { if (closes.lenght > 2) closes.push(bar.close); } };
                                         ~~~~~~
`;

test.each([
  ['backtest', []],
  ['lookahead', []],
  ['sweep', ['--workers', '1']],
  ['walkforward', ['--train', '3m', '--test', '1m', '--workers', '1']],
  ['live', ['--url', 'http://127.0.0.1:9']],
])('%s ends with the place of a type error, before anything runs', (command, more) => {
  write('wrong.ts', WRONG);
  const data = command === 'live' ? [] : ['--data', DATA];
  const { status, stdout, stderr } = orrery([command, 'wrong.ts', ...data, ...more]);
  expect(stderr).toBe(ERROR);
  expect(stdout).toBe('');
  expect(status).toBe(2);
  expect(readdirSync(scratch)).not.toContain('reports');
});

test('--no-check runs a strategy with a type error', () => {
  write('wrong.ts', WRONG);
  const end = ['--to', '2024-08-08T23:54:18Z', '--out', 'unchecked'];
  const run = orrery(['backtest', 'wrong.ts', '--no-check', '--data', DATA, ...end]);
  expect(run).toMatchObject({ status: 0, stderr: '' });
});

test('a JavaScript file is checked if it asks for it', () => {
  const plain = WRONG.replace('const closes: number[] = [];', 'const closes = [1];');
  write('plain.js', plain);
  expect(orrery(['backtest', 'plain.js', ...CHECKED]).stderr).toMatch(NO_DATA);
  write('plain.js', `// @ts-check\n${plain}`);
  expect(orrery(['backtest', 'plain.js', ...CHECKED]).stderr).toContain('plain.js:9:38: Property');
});

/** A TypeScript package in a project, whose script is this. */
function compilerIn(project: string, version: string, script: string): void {
  write(
    `${project}/node_modules/typescript/package.json`,
    JSON.stringify({ name: 'typescript', version, main: 'main.js' }),
  );
  write(`${project}/node_modules/typescript/main.js`, script);
}

test('the TypeScript of the project checks, and again only when something changes', () => {
  const calls = join(scratch, 'calls');
  writeFileSync(calls, '');
  // It counts how often it is loaded.
  compilerIn(
    'kept',
    '6.0.0',
    `require('fs').appendFileSync(${JSON.stringify(calls)}, '.');
     module.exports = require(${JSON.stringify(TYPESCRIPT)});`,
  );
  const checked = (text: RegExp | string, state?: string): number => {
    const { stderr } = orrery(['backtest', 'kept/mine.ts', ...CHECKED], {
      state: state ?? 'kept-state',
    });
    expect(stderr).toMatch(text);
    return readFileSync(calls, 'utf8').length;
  };
  const importing = (type: string): string =>
    strategyOf(`const n: ${type} = size; closes.push(bar.close, n as number);`).replace(
      '\n\n',
      `\nimport { size } from './size.ts';\n\n`,
    );
  write('kept/size.ts', 'export const size: number = 1;');
  write('kept/mine.ts', importing('number'));
  expect(checked(NO_DATA)).toBe(1);
  expect(checked(NO_DATA)).toBe(1);
  // Types only, so that the bundle is the same.
  write('kept/mine.ts', importing('string'));
  expect(checked('kept/mine.ts:9:')).toBe(2);
  // A failure is not kept, and the last check that passed is.
  write('kept/mine.ts', importing('number'));
  expect(checked(NO_DATA)).toBe(2);
  // An imported file.
  write('kept/size.ts', 'export const size: string | number = 1;');
  expect(checked('kept/mine.ts:9:')).toBe(3);
  write('kept/size.ts', 'export const size: number = 1;');
  // A file that was missing.
  write('kept/tsconfig.json', '{ "compilerOptions": { "strict": false } }');
  expect(checked(NO_DATA)).toBe(4);
  expect(checked(NO_DATA)).toBe(4);
  // No folder for the record.
  write('not-a-folder', '');
  expect(checked(NO_DATA, 'not-a-folder')).toBe(5);
});

test.each([
  [
    '7.0.1',
    'exports.version = 7;',
    'TypeScript 7.0.1 has no API for it; versions 5 and 6 have one (npm install --save-dev typescript@6)',
  ],
  [
    '5.0.0',
    'throw new Error("broken");',
    'TypeScript 5.0.0 failed; ORRERY_DEBUG=1 shows its error',
  ],
])('TypeScript %s that cannot check is named in one line', (version, script, words) => {
  const folder = `of-${version}`;
  compilerIn(folder, version, script);
  write(`${folder}/wrong.ts`, WRONG);
  const [line, rest] = orrery(['backtest', `${folder}/wrong.ts`, ...CHECKED]).stderr.split('\n');
  expect(line).toBe(`the types of ${folder}/wrong.ts are not checked: ${words}`);
  expect(rest).toContain('no-data');
});

test('an installed package: without TypeScript one line, with it the types of the package', () => {
  const packages = join(scratch, 'project', 'node_modules');
  const program = join(packages, 'orrery');
  for (const name of ['dist', 'package.json']) {
    cpSync(join(root, name), join(program, name), { recursive: true });
  }
  const installed = join(root, 'node_modules');
  for (const name of readdirSync(installed)) {
    if (['typescript', 'orrery', '.bin'].includes(name)) continue;
    symlinkSync(join(installed, name), join(packages, name));
  }
  write('project/wrong.ts', WRONG);
  const args = ['backtest', 'project/wrong.ts', ...CHECKED];
  const [line, rest] = orrery(args, { program }).stderr.split('\n');
  expect(line).toBe(
    'the types of project/wrong.ts are not checked: TypeScript is not installed (npm install --save-dev typescript@6)',
  );
  expect(rest).toContain('no-data');
  symlinkSync(TYPESCRIPT, join(packages, 'typescript'));
  expect(orrery(args, { program }).stderr).toContain('project/wrong.ts:8:38: Property');
  write('project/wrong.ts', strategyOf('closes.push(bar.close);'));
  expect(orrery(args, { program }).stderr).toMatch(NO_DATA);
});
