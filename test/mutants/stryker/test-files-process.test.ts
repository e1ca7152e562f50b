/** Test files of vitest in a process without vitest (`.ci/stryker-tests.mjs`). */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const FILE = 'test/mutants/stryker/sample-tests.ts';

/** Evaluates the runs in one process. */
function inProcess(expression: string): unknown {
  const code = `
    import { TestFiles } from './.ci/stryker-tests.mjs';
    const files = new TestFiles(['${FILE}'], ['test/setup/seed.ts']);
    const brief = (results) =>
      results.map(({ id, failure }) => [id.slice(id.indexOf('#') + 1), failure === null]);
    console.log(JSON.stringify(${expression}));
    process.exit(0);`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', code];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

test('all tests run, and again with fresh test files', () => {
  const all = [
    ['passes', true],
    ['group > has 1', true],
    ['group > has 2', true],
    ['group > fails', false],
    ['group > is last', true],
  ];
  const runs = '[brief(await files.run({ all: true })), brief(await files.run({ all: true }))]';
  expect(inProcess(runs)).toEqual([all, all]);
});

test('the first failure is the last test', () => {
  const found = inProcess('brief(await files.run({}))') as unknown[];
  expect(found.slice(-1)).toEqual([['group > fails', false]]);
});

test('chosen tests run alone, with a call before and after each', () => {
  const chosen = inProcess(`await (async () => {
    const entered = [];
    const ids = ['${FILE}#passes'];
    const results = await files.run({ ids, entered: (id) => entered.push(id ?? null) });
    return [brief(results), entered];
  })()`);
  expect(chosen).toEqual([[['passes', true]], [`${FILE}#passes`, null]]);
});
