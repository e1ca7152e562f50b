/**
 * The recipes of CONTRIBUTING.md: for each there is a sample, a patch of this folder. It applies to
 * the code as it is and touches the files of `src` that its recipe lists, no more than its limit.
 * `npm run test:recipes` compiles the code with all samples applied and runs their tests.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The most files of `src` that a task may touch. */
const LIMITS: Readonly<Record<string, number>> = {
  'order-type': 12,
  endpoint: 5,
  metric: 2,
  format: 2,
};
const NAMES = Object.keys(LIMITS);

const git = (...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe', maxBuffer: 1e8 });

/** Files that a patch changes. */
function touched(name: string): string[] {
  return git('apply', '--numstat', `test/recipes/${name}.patch`)
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[2] ?? '');
}

const testsOf = (name: string): string[] =>
  touched(name).filter((path) => path.endsWith('.test.ts'));

/** The section of CONTRIBUTING.md that names the sample. */
function sectionOf(name: string): string {
  const sections = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split(/^##+ /m);
  const found = sections.filter((section) => section.includes(`test/recipes/${name}.patch`));
  expect(found, `sections of CONTRIBUTING.md that name the sample ${name}`).toHaveLength(1);
  return found[0] ?? '';
}

/** Files of `src` in the list of a recipe; `<…>` is a name that the contributor chooses. */
function listed(name: string): RegExp[] {
  const items = sectionOf(name).matchAll(/^- `(src\/[^`]+)`/gm);
  return [...items].map(([, path = '']) => {
    const parts = path.split(/<[^>]+>/).map((part) => part.replaceAll('.', '\\.'));
    return new RegExp(`^${parts.join('[a-z0-9-]+')}$`);
  });
}

test('every patch of the folder has a limit', () => {
  const patches = readdirSync(join(root, 'test/recipes')).filter((file) => file.endsWith('.patch'));
  expect(patches.sort()).toEqual(NAMES.map((name) => `${name}.patch`).sort());
});

test.each(NAMES)('%s: the sample applies, and brings a test', (name) => {
  try {
    git('apply', '--check', `test/recipes/${name}.patch`);
  } catch (error) {
    const { stderr } = error as { stderr: string };
    throw new Error(
      `${stderr}The sample does not apply any more. Refresh it:\n` +
        `  node .ci/recipe.mjs open ${name} var/${name}   # then repair the .rej files in var/${name}\n` +
        `  node .ci/recipe.mjs save ${name} var/${name}`,
      { cause: error },
    );
  }
  expect(testsOf(name).length).toBeGreaterThan(0);
});

test.each(NAMES)('%s: the sample touches the listed files of src, and few', (name) => {
  const sources = touched(name).filter((path) => path.startsWith('src/'));
  const list = listed(name);
  expect(sources.filter((path) => !list.some((pattern) => pattern.test(path)))).toEqual([]);
  expect(list.filter((pattern) => !sources.some((path) => pattern.test(path)))).toEqual([]);
  expect(sources.length).toBeLessThanOrEqual(LIMITS[name] ?? 0);
  expect(sources.length).toBe(list.length);
});
