/** The linked engine (`.ci/link.mjs`): constant bindings change no meaning. */
import { statSync, utimesSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
// @ts-expect-error: a module of the build scripts, without types
import * as linking from '../../.ci/link.mjs';

const { withConstants, linkIfChanged } = linking as {
  readonly withConstants: (code: string) => string;
  readonly linkIfChanged: () => Promise<void>;
};

/** Value of `result` of a module. */
async function resultOf(code: string): Promise<unknown> {
  const url = `data:text/javascript,${encodeURIComponent(code)}`;
  return ((await import(url)) as { readonly result: unknown }).result;
}

const MODULE = `
var first = twice(20);
var changed = 1;
var object = { a: 1 };
var [left, right] = [1, 2];
var Kept = class _Kept { static of() { return new _Kept(); } };
function twice(n) { return 2 * n; }
function replaced() { return 0; }
replaced = () => 2;
for (changed of [3]) object.a += 1;
var key = 'a';
object[key] = object[key] + right - left;
export { sum as result };
var sum = [first, changed, object.a, replaced(), Kept.of() instanceof Kept].join(' ');
`;

test('a linked module means what it meant', async () => {
  const linked = withConstants(MODULE);
  expect(await resultOf(linked)).toBe('40 3 3 2 true');
  for (const name of ['first', 'object', 'key', 'twice', 'Kept', 'sum']) {
    expect(linked).toContain(`const ${name} = `);
  }
  for (const name of ['changed = 1', '[left, right]']) expect(linked).toContain(`var ${name}`);
  expect(linked).toContain('function replaced()');
});

test('a binding that is exported and assigned is refused', () => {
  expect(() => withConstants('var a = 1; a = 2; export { a };')).toThrow('exported and assigned');
});

test('a build whose last module has the time of the linked file is not linked again', async () => {
  await linkIfChanged();
  const built = (path: string): string =>
    fileURLToPath(new URL(`../../dist/${path}`, import.meta.url));
  const time = Math.ceil(Date.now() / 1000);
  for (const path of ['num/units.js', 'linked.js']) utimesSync(built(path), time, time);
  const { ino } = statSync(built('linked.js'));
  await linkIfChanged();
  expect(statSync(built('linked.js')).ino).toBe(ino);
});
