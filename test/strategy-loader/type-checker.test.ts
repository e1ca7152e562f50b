/** Types of strategies against the API, as a process of the command checks them. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import ts from 'typescript';
import { afterAll, expect, test } from 'vitest';
import { executePlan } from '../../src/run-plan/plan.ts';
import { GLOBALS } from '../../src/strategy-loader/strategy-globals.ts';
import { checkTypes, type TypeCheckResult } from '../../src/strategy-loader/type-checker.ts';
import { plannedOf, planOf, RECORDED_FROM_US } from '../run-plan/plans.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orrery-types-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Checks a strategy with the declarations of the sources. */
function checked(file: string): TypeCheckResult {
  const compiler = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));
  const entries = { 'orrery/strategy': join(root, 'src', 'strategy', 'index.ts') };
  return checkTypes(ts, { file, root, compiler, entries });
}

/** Errors as `file:line first line`. */
function errorsOf(file: string): string[] {
  return checked(file).problems.map(
    ({ file: path, line, message }) =>
      `${path.slice(folder.length + 1)}:${String(line)} ${message.split('\n')[0] ?? ''}`,
  );
}

function write(path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

test('errors of the file and of its local imports, and none of what is not an error', () => {
  write(
    'a/helper.ts',
    `export const half = (n: number): number => n / 2;\nexport const x: string = 5;`,
  );
  write('a/plain.js', `export const plain = (n) => n.lenght;`);
  write('a/asked.js', `// @ts-check\nexport const asked = (n) => n;\n'x'.lenght;`);
  write('a/prices.json', `{ "list": [1] }`);
  write('a/words.txt', `words`);
  write('a/node_modules/untyped/package.json', `{ "name": "untyped", "main": "index.js" }`);
  write('a/node_modules/untyped/index.js', `exports.y = 1;`);
  const file = write(
    'a/a.ts',
    `import { defineStrategy, integer, type Strategy } from 'orrery/strategy';
import { SMA } from 'trading-signals';
import { y } from 'untyped';
import { half } from './helper';
import { plain } from './plain.js';
import { asked } from './asked.js';
import prices from './prices.json';
import words from './words.txt';
const unused = 1;
export default defineStrategy({
  name: 'a',
  parameters: { n: integer(3, { min: 1, max: 9 }) },
  create: ({ n }): Strategy => {
    const closes: number[] = [];
    console.log(new SMA(n), y, half('2'), plain(1), asked(1), prices.list.length, words, performance.now());
    setTimeout((text: string) => text.length, 5, 'x');
    clearTimeout(setInterval(() => undefined));
    return {
      onBar(bar, context) {
        if (closes.lenght > 2) context.log(new Intl.NumberFormat().format(bar.close));
        bar.clse;
        closes.push(bar.volume);
        closes[0].toFixed();
        fetch('http://x');
        process.exit();
        document.title;
        context.market().price('5');
      },
      onFil: () => undefined,
    };
    return {};
  },
});
`,
  );
  expect(errorsOf(file).sort()).toEqual(
    [
      `a/asked.js:2 Parameter 'n' implicitly has an 'any' type.`,
      `a/asked.js:3 Property 'lenght' does not exist on type '"x"'. Did you mean 'length'?`,
      `a/helper.ts:2 Type 'number' is not assignable to type 'string'.`,
      `a/a.ts:15 Argument of type 'string' is not assignable to parameter of type 'number'.`,
      `a/a.ts:20 Property 'lenght' does not exist on type 'number[]'. Did you mean 'length'?`,
      `a/a.ts:21 Property 'clse' does not exist on type 'BarUpdate'. Did you mean 'close'?`,
      `a/a.ts:24 Cannot find name 'fetch'.`,
      `a/a.ts:25 Cannot find name 'process': a strategy has no platform`,
      `a/a.ts:26 Cannot find name 'document': a strategy has no platform`,
      `a/a.ts:27 Argument of type 'string' is not assignable to parameter of type 'number'.`,
      `a/a.ts:29 Object literal may only specify known properties, but 'onFil' does not exist in type 'Strategy'. Did you mean to write 'onFill'?`,
    ].sort(),
  );
});

const INDEXED = `import { defineStrategy } from 'orrery/strategy';
const list: number[] = [];
export const first: number = list[0];
export const node = process;
export const dom = document;
const unused = 1;
export default defineStrategy({ name: 'b', parameters: {}, create: () => ({}) });
`;

test('the tsconfig.json of the folder is in force, except for the platform and style', () => {
  const options = {
    ...{ noUncheckedIndexedAccess: true, noUnusedLocals: true, types: ['node'], lib: ['dom'] },
    ...{ rootDir: 'elsewhere', composite: true, module: 'commonjs', target: 'es5' },
  };
  write('b/tsconfig.json', `{ // a comment\n "compilerOptions": ${JSON.stringify(options)} }`);
  const file = write('b/deep/b.ts', INDEXED);
  const platform = [
    `b/deep/b.ts:4 Cannot find name 'process': a strategy has no platform`,
    `b/deep/b.ts:5 Cannot find name 'document': a strategy has no platform`,
  ];
  expect(errorsOf(file)).toEqual([
    `b/deep/b.ts:3 Type 'number | undefined' is not assignable to type 'number'.`,
    ...platform,
  ]);
  // Without strictness: one that the file asks for.
  write('b/tsconfig.json', '{ "compilerOptions": { "strict": false } }');
  expect(errorsOf(file)).toEqual(platform);
  write('b/tsconfig.json', '{ "compilerOptions": { ');
  expect(errorsOf(file)).toEqual([`b/tsconfig.json:1 '}' expected.`]);
});

test('files that decide the result are recorded', () => {
  const file = write('c/c.ts', `export { x } from './d.ts';\nexport default 1;`);
  const imported = write('c/d.ts', `export const x = 1;`);
  const { problems, read } = checked(file);
  expect(problems).toEqual([]);
  const files = Object.keys(read.files);
  expect(files.filter((path) => path.startsWith(folder)).sort()).toEqual([file, imported]);
  expect(read.absent).toContain(join(folder, 'c', 'tsconfig.json'));
  expect(files.some((path) => path.endsWith('lib.es2023.d.ts'))).toBe(false);
});

test('the templates and every example pass', () => {
  const examples = join(root, 'examples', 'strategies');
  // One program for all.
  const all = readdirSync(examples).map((name) => `import '${join(examples, name)}';`);
  const folderOfTemplates = join(root, 'examples', 'templates');
  for (const name of readdirSync(folderOfTemplates).filter((one) => one.endsWith('.ts'))) {
    all.push(`import '${join(folderOfTemplates, name)}';`);
  }
  const file = write('e/all.ts', all.join('\n'));
  writeFileSync(
    join(folder, 'e', 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json') }),
  );
  const { problems, read } = checked(file);
  expect(problems).toEqual([]);
  expect(Object.keys(read.files)).toContain(join(examples, 'quotes.ts'));
});

test('the declared globals are those of the realm', async () => {
  const path = write(
    'f/f.ts',
    `import { defineStrategy } from 'orrery/strategy';
export default defineStrategy({ name: 'f', parameters: {}, create: () => ({
  onStart: (context) => context.log(Object.getOwnPropertyNames(globalThis).filter((name) => {
    try { return (globalThis as any)[name] !== undefined; } catch { return false; }
  }).join(' ')),
}) });`,
  );
  const plan = planOf([await plannedOf(path)], { toUs: RECORDED_FROM_US + 1_000_000 });
  const { output } = await executePlan(plan);
  const names = output.strategies[0]!.log[0]!.text.split(' ');
  const declared = [...GLOBALS.matchAll(/^declare (?:var|function) (\w+)/gm)].map(
    ([, name = '']) => name,
  );
  const language = new Set(runInNewContext('Object.getOwnPropertyNames(globalThis)') as string[]);
  const others = names.filter((name) => !language.has(name) || name === 'console');
  expect(others.sort()).toEqual(declared.sort());
});
