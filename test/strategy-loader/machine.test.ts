/**
 * A strategy reads the same on every machine: locale, time zone, folder and options of the process
 * do not show.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleStrategy } from '../../src/strategy-loader/bundle.ts';
import { placeOf } from '../../src/strategy-loader/fault-place.ts';
import { DATASET } from '../run-plan/plans.ts';
import { FACTS, REALM_FACTS } from './machine-facts.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orrery-machine-'));
beforeAll(() => {
  execFileSync(process.execPath, [join(root, '.ci', 'setup.mjs')], { stdio: 'ignore' });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const PACKAGE = `exports.trace = function trace() { return new Error('trace').stack; };`;
const STRATEGY = `import { defineStrategy } from 'orrery/strategy';
import old from 'old';
${FACTS}${REALM_FACTS}
export default defineStrategy({ name: 'facts', parameters: {}, create: () => ({
  onStart(context) {
    for (const fact of [...facts(), ...realmFacts(), old.trace()]) context.log(JSON.stringify(fact) ?? 'undefined');
  },
}) });
`;

/** A project with the strategy below it and a CommonJS package. */
function project(name: string, below: string): string {
  const file = join(folder, name, below, 'facts.ts');
  const packaged = join(folder, name, 'node_modules', 'old');
  mkdirSync(join(file, '..'), { recursive: true });
  mkdirSync(packaged, { recursive: true });
  writeFileSync(join(packaged, 'package.json'), '{ "name": "old", "main": "index.js" }');
  writeFileSync(join(packaged, 'index.js'), PACKAGE);
  writeFileSync(file, STRATEGY);
  return file;
}

/** Runs a module with these variables of the environment; returns its lines. */
function linesOf(script: string, environment: Record<string, string>): string[] {
  const path = join(folder, 'script.mjs');
  writeFileSync(path, script);
  const env = { ...process.env, ...environment };
  return execFileSync(process.execPath, [path], { env, encoding: 'utf8' }).split('\n');
}

/** The log of a strategy file in the library, which sets no variable itself. */
function logOf(file: string, environment: Record<string, string>): string[] {
  const library = join(root, 'dist', 'library', 'backtest', 'index.js');
  const options = { strategy: file, data: DATASET, to: '2024-08-08T23:54:18Z' };
  return linesOf(
    `import { backtest } from ${JSON.stringify(library)};
     const { strategies } = await backtest(${JSON.stringify(options)});
     for (const { text } of strategies[0].log) console.log(text);`,
    environment,
  );
}

const HERE = { TZ: 'UTC', LANG: 'en_US.UTF-8', LC_ALL: 'en_US.UTF-8' };
const ELSEWHERE = { TZ: 'America/New_York', LANG: 'tr_TR.UTF-8', LC_ALL: 'sv_SE.UTF-8' };

test('locale, time zone, folder and options of the process do not show', () => {
  const here = logOf(project('one', '.'), HERE);
  const elsewhere = logOf(project('two', 'deep/er'), {
    ...ELSEWHERE,
    NODE_OPTIONS: '--stack-trace-limit=40',
  });
  expect(elsewhere).toEqual(here);
  expect(here.length).toBeGreaterThan(100);
  expect(here.join()).not.toContain(folder);
});

test('dates and formats are those of the platform in UTC and en-US', () => {
  const native = transformSync(FACTS, { loader: 'ts' }).code;
  const script = `${native};for (const fact of facts()) console.log(JSON.stringify(fact));`;
  const utc = linesOf(script, HERE).slice(0, -1);
  const realm = logOf(project('three', '.'), ELSEWHERE);
  expect(realm.slice(0, utc.length)).toEqual(utc);
  // Facts that the machine does decide, without the realm.
  expect(linesOf(script, ELSEWHERE).filter((line, i) => line !== utc[i]).length).toBeGreaterThan(
    30,
  );
});

test('the bundle of a CommonJS package does not depend on the folder', async () => {
  const [one, two] = [
    await bundleStrategy(project('four', '.')),
    await bundleStrategy(project('five', 'very/deep')),
  ];
  expect([two.sha256, two.code]).toEqual([one.sha256, one.code]);
  // Places behind the removed folder are exact.
  const at = 'old.trace()';
  const line = STRATEGY.split('\n').findIndex((text) => text.includes(at)) + 1;
  const column = (STRATEGY.split('\n')[line - 1] ?? '').indexOf('trace()') + 1;
  for (const bundle of [one, two]) {
    const call = bundle.code.lastIndexOf('.trace()') + 2;
    expect(placeOf(bundle, `    at onStart (facts.ts:1:${String(call)})`)).toBe(
      `facts.ts:${String(line)}:${String(column)}`,
    );
  }
});
