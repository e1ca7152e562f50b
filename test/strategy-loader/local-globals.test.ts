/** The code of a strategy reads globals of the language without the platform's lookup. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { executePlan } from '../../src/run-plan/plan.ts';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { aroundCode, aroundOwnCode } from '../../src/strategy-loader/local-globals.ts';
import { planOf, RECORDED_FROM_US } from '../run-plan/plans.ts';

const folder = mkdtempSync(join(tmpdir(), 'orrery-globals-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const localsOf = (code: string): string => /\{ (.*?) \}/.exec(aroundCode(code, '').head)?.[1] ?? '';

test.each([
  ['Math.max(1, Number(text))', 'Math, Number'],
  ['value === Infinity ? NaN : 1', 'Infinity, NaN'],
  ['new Map<string, number>()', 'Map'],
  ['a.MathError + Maths + $Math', ''],
  ['Date.now()', ''],
  ['Math == other', 'Math'],
  // It may replace them.
  ['Math = fake', ''],
  ['globalThis.Math = fake; Number(1)', 'Number'],
  ['globalThis["Math"] ??= fake; Math.max()', ''],
  ["Object.defineProperty(globalThis, 'Number', fake); Number(1)", 'Object'],
  ['Infinity += 1', ''],
])('%s has the local names %s', (code, names) => {
  expect(localsOf(code)).toBe(names);
});

test('code of this program has all names that it reads', () => {
  expect(aroundOwnCode(`const names = ['Math']; Math.max(1)`, 'a').head).toBe(
    `(function ({ Math }) { return function (a) {'use strict';`,
  );
});

async function logOf(body: string, head = ''): Promise<readonly string[]> {
  const path = join(folder, 'probe.ts');
  writeFileSync(
    path,
    `import { defineStrategy } from 'orrery/strategy';
${head}
export default defineStrategy({
  name: 'probe',
  parameters: {},
  create: () => ({ onStart(context) { ${body} } }),
});\n`,
  );
  const strategies = [{ id: 'probe', bundle: await bundleStrategy(path), parameters: {} }];
  const { output } = await executePlan(planOf(strategies, { toUs: RECORDED_FROM_US + 1_000_000 }));
  return output.strategies[0]!.log.map(({ text }) => text);
}

test('a name of its own hides the global, and a global that it replaces is seen', async () => {
  const own = 'class Map { size = 7; } const parseInt = () => 3;';
  expect(await logOf('context.log(`${new Map().size} ${parseInt("9")}`);', own)).toEqual(['7 3']);
  const replaced = 'globalThis.Number = () => 5 as never; Math.max = () => 6;';
  expect(await logOf('context.log(`${Number("1")} ${Math.max(1, 2)}`);', replaced)).toEqual([
    '5 6',
  ]);
});

test('a local name is the object of the realm', async () => {
  const body = `context.log([Math === globalThis.Math, Number === globalThis.Number,
    [] instanceof Array, Object.getPrototypeOf({}) === Object.prototype].join());`;
  expect(await logOf(body)).toEqual(['true,true,true,true']);
});
