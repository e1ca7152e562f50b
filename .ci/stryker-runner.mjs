/**
 * Plugin of Stryker: a test runner without processes of vitest (stryker-stages.mjs). It loads
 * TypeScript through tsx (`testRunnerNodeArgs`), from the instrumented copy of the repository.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { INSTRUMENTER_CONSTANTS } from '@stryker-mutator/api/core';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import { ROOMS, filesOf } from './stryker-rooms.mjs';
import { Stages } from './stryker-stages.mjs';
import { TestFiles } from './stryker-tests.mjs';

const QUICK_TESTS = 'test/mutants/stryker/quick-tests.ts';
/** Another seed would change which tests reach a mutant. */
const SETUP = ['test/setup/seed.ts'];

/** Modules cannot be replaced here. */
const runsHere = (path) => !/\bvi\.(?:do)?[mM]ock\(/.test(readFileSync(path, 'utf8'));

class Runner {
  #stages;

  /** Mutants of code that runs while modules load are ignored, so no mutant needs a new process. */
  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    const { quickTests } = await import(pathToFileURL(QUICK_TESTS).href);
    const { tests, runs } = ROOMS[process.env['ORRERY_ROOM'] ?? 'num'];
    this.#stages = new Stages({
      quick: quickTests(runs),
      file: QUICK_TESTS,
      files: new TestFiles(tests.flatMap(filesOf).filter(runsHere), SETUP),
      ns: (globalThis[INSTRUMENTER_CONSTANTS.NAMESPACE] ??= {}),
    });
  }

  dryRun() {
    return this.#stages.dryRun();
  }

  mutantRun(options) {
    return this.#stages.mutantRun(options);
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'orrery', Runner)];
