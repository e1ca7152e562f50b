/**
 * Layer 2 of docs/DETERMINISM.md: lint rules reject each banned construct in deterministic rooms,
 * and allow it elsewhere.
 */
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The bans need no types, so each text is parsed alone. */
const eslint = new ESLint({ cwd: root, overrideConfig: tseslint.configs.disableTypeChecked });

const BANNED = {
  'the clock': 'export const a = Date.now();',
  'a date': 'export const a = new Date();',
  chance: 'export const a = Math.random();',
  'a power': 'export const a = Math.pow(2, 0.5);',
  'a power operator': 'export const a = (n: number) => n ** 0.5;',
  'an exponential': 'export const a = Math.exp(1);',
  'a logarithm': 'export const a = Math.log(2);',
  'a sine': 'export const a = Math.sin(1);',
  'Math by another name': 'const M = Math; export const a = M.random();',
  'Math taken apart': 'const { random } = Math; export const a = random();',
  'Math by computed name': "export const a = Math['random']();",
  'the locale': "export const a = 'a'.localeCompare('b');",
  'a locale format': 'export const a = (1).toLocaleString();',
  'the Intl object': 'export const a = new Intl.NumberFormat();',
  'order of keys': 'export function a(o: object) { for (const k in o) return k; return null; }',
  'a timer': 'export const a = setTimeout(() => undefined, 1);',
  'the performance clock': 'export const a = performance.now();',
  'the platform': "import { readFileSync } from 'node:fs'; export const a = readFileSync;",
  'the process': 'export const a = process.pid;',
  'a detour over globalThis': 'export const a = globalThis.Date;',
};

async function complaints(code: string, file: string): Promise<readonly (string | null)[]> {
  const [result] = await eslint.lintText(code, { filePath: `${root}${file}` });
  if (result === undefined) throw new Error(`${file} is not linted`);
  const broken = result.messages.find(({ fatal }) => fatal === true);
  if (broken !== undefined) throw new Error(broken.message);
  return result.messages
    .map(({ ruleId }) => ruleId)
    .filter((rule) => rule?.startsWith('no-restricted-') === true);
}

test.each(Object.entries(BANNED))('%s is banned in the engine', async (_name, code) => {
  expect(await complaints(code, 'src/engine/timers.ts')).not.toEqual([]);
});

test('exact integer powers of literals are allowed', async () => {
  expect(await complaints('export const a = 2 ** 31;', 'src/engine/timers.ts')).toEqual([]);
});

test('the clock is allowed in the command line', async () => {
  expect(await complaints('export const a = Date.now();', 'src/cli/cli-support.ts')).toEqual([]);
});
