/**
 * Runs test files of vitest in this process, many times, so that a mutant does not load the engine
 * again. Only the test files themselves are loaded for each. The functions of vitest are its own;
 * tests that need its module loader (`vi.mock`), its fake timers or its snapshots cannot run here.
 */
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startTests } from '@vitest/runner';

/** Ends a test that waits for what a mutant prevents. */
const TEST_TIMEOUT_MS = 20_000;

/** The id of a test: its file and its full name. */
function idOf(test) {
  const names = [];
  for (let task = test; task !== undefined; task = task.suite) names.unshift(task.name);
  return `${relative(process.cwd(), test.file.filepath)}#${names.join(' > ')}`;
}

const fileOf = (id) => id.slice(0, id.indexOf('#'));

const testsOf = (suite) =>
  suite.tasks.flatMap((task) => (task.type === 'suite' ? testsOf(task) : [task]));

export class TestFiles {
  #loaded = 0;

  /** `files`, `setup`: paths from the working folder. */
  constructor(files, setup) {
    this.files = files;
    this.setup = setup;
  }

  /**
   * Runs the tests of `ids`, or all; the first failure is the last test unless `all` is set.
   * `started` is called when the files are loaded; `entered` with the id of each test before it,
   * and with undefined after it.
   */
  async run({ ids, all = false, started, entered }) {
    const wanted = ids === undefined ? null : new Set(ids);
    const files = wanted === null ? this.files : [...new Set(ids.map(fileOf))];
    this.#loaded += 1;
    let failed = false;
    const importFile = (path, source) => {
      const { href } = pathToFileURL(path);
      return import(source === 'collect' ? `${href}?run=${String(this.#loaded)}` : href);
    };
    const runner = {
      config: configOf(this.setup.map((path) => resolve(path))),
      importFile,
      onCollected: (collected) => {
        for (const test of collected.flatMap(testsOf))
          if (wanted !== null && !wanted.has(idOf(test)) && test.mode === 'run') test.mode = 'skip';
        started?.();
      },
      onBeforeRunTask: (test) => {
        if (failed && !all && test.mode === 'run') test.mode = 'skip';
      },
      onBeforeTryTask: (test) => entered?.(idOf(test)),
      onAfterTryTask: () => entered?.(undefined),
      onAfterRunTask: (test) => {
        failed ||= test.result?.state === 'fail';
      },
    };
    const results = await startTests(
      files.map((path) => join(process.cwd(), path)),
      runner,
    );
    return results.flatMap(resultsOf);
  }
}

function resultsOf(file) {
  const broken = failureOf(file);
  const results = testsOf(file)
    .filter(({ result }) => result?.state === 'pass' || result?.state === 'fail')
    .map((test) => ({
      id: idOf(test),
      name: test.name,
      fileName: file.filepath,
      timeSpentMs: test.result.duration ?? 0,
      failure: test.result.state === 'fail' ? (failureOf(test) ?? 'failed') : null,
    }));
  // A file that does not load, and hooks of a file that fail.
  const suites = suitesOf(file).flatMap((suite) => failureOf(suite) ?? []);
  const outside = broken ?? suites[0] ?? null;
  if (outside === null || results.some(({ failure }) => failure !== null)) return results;
  const path = relative(process.cwd(), file.filepath);
  const whole = { id: `${path}#`, name: path, fileName: file.filepath, timeSpentMs: 0 };
  return [...results, { ...whole, failure: outside }];
}

const suitesOf = (suite) =>
  suite.tasks.flatMap((task) => (task.type === 'suite' ? [task, ...suitesOf(task)] : []));

const failureOf = ({ result }) => result?.errors?.[0]?.message ?? null;

const configOf = (setupFiles) => ({
  root: process.cwd(),
  name: undefined,
  setupFiles,
  passWithNoTests: true,
  testNamePattern: undefined,
  allowOnly: false,
  sequence: { seed: 0, hooks: 'stack', setupFiles: 'list' },
  chaiConfig: undefined,
  maxConcurrency: 1,
  testTimeout: TEST_TIMEOUT_MS,
  hookTimeout: TEST_TIMEOUT_MS,
  retry: 0,
  includeTaskLocation: false,
  tags: [],
  tagsFilter: undefined,
  strictTags: false,
});
