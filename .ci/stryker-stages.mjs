/**
 * Runs mutants in one process that holds the instrumented engine, so a test costs milliseconds. The
 * first stage is runs beside the oracle and scenarios (test/mutants/stryker/quick-tests.ts). The
 * second is the tests of vitest of the room, for mutants that the first does not notice.
 */
import { resolve } from 'node:path';
import {
  determineHitLimitReached,
  DryRunStatus,
  MutantRunStatus,
  TestStatus,
} from '@stryker-mutator/api/test-runner';

/** In the ids of tests of the first stage. */
const PREFIX = 'quick#';
/** Stryker's limit is 100 times the hits of all tests; in the second stage it is 5 times those. */
const HITS_SHARE = 20;
/** In a test of the first stage the limit is so many times the hits of that test. */
const HITS_TIMES = 5;
/** The least limit, for a mutant that a test hardly reaches. */
const HITS_LEAST = 2000;
/** Differing tests that are run in full before a mutant goes to the second stage. */
const JUDGED = 8;

export class Stages {
  /** Tests of the first stage by id, the one that noticed a mutant last in front. */
  #quick = new Map();
  #recorded = new Set();
  /** Instrumented places that the present test may still pass. */
  #left = Infinity;
  /** Mutants run in this process. */
  #before = 0;
  #spoiled = false;

  /**
   * `quick`: the tests of the first stage, of the module `file`. `files`: those of the second
   * (`TestFiles`). `ns`: the object of Stryker's instrumentation.
   */
  constructor({ quick, file, files, ns }) {
    for (const test of quick) this.#quick.set(PREFIX + test.name, test);
    this.file = resolve(file);
    this.files = files;
    this.ns = ns;
  }

  /** Each test once, without a mutant; which mutants it reaches. */
  async dryRun() {
    const { ns, file: fileName } = this;
    const results = [...this.#quick].map(([id, test]) => {
      this.#record(id);
      ns.currentTestId = id;
      const from = performance.now();
      const failure = failureOf(test);
      const timeSpentMs = performance.now() - from;
      ns.currentTestId = undefined;
      return { id, name: test.name, fileName, timeSpentMs, failure };
    });
    const entered = (id) => {
      ns.currentTestId = id;
    };
    results.push(...(await this.files.run({ all: true, entered })));
    return {
      status: DryRunStatus.Complete,
      tests: results.map(({ failure, ...test }) =>
        failure === null
          ? { ...test, status: TestStatus.Success }
          : { ...test, status: TestStatus.Failed, failureMessage: failure },
      ),
      mutantCoverage: ns.mutantCoverage ?? { static: {}, perTest: {} },
    };
  }

  async mutantRun({ activeMutant, hitLimit, testFilter: ids }) {
    const limit = hitLimit === undefined ? undefined : Math.ceil(hitLimit / HITS_SHARE);
    const options = { activeMutant, limit, testFilter: ids };
    if (this.#spoiled) throw new Error('a mutant left something behind in this process');
    for (const id of this.#quick.keys()) if (ids.includes(id)) this.#record(id);
    try {
      const found = this.#firstStage(options) ?? (await this.#secondStage(options));
      return found ?? { status: MutantRunStatus.Survived, nrOfTests: ids.length };
    } finally {
      this.#activate(null);
      this.#before += 1;
    }
  }

  #firstStage({ activeMutant, limit, testFilter: ids }) {
    let judged = 0;
    for (const [id, test] of this.#quick) {
      if (!ids.includes(id)) continue;
      const most = this.#limitIn(id, activeMutant, limit);
      this.#activate(activeMutant, most);
      this.#guard(id, most);
      const at = test.differsAt();
      this.#unguard();
      const endless = this.#endless(most);
      if (endless !== null) return endless;
      if (this.#left < 0) return { status: MutantRunStatus.Timeout };
      if (at < 0) continue;
      this.#activate(activeMutant, limit);
      const failure = failureOf(test, at) ?? failureOf(test, Infinity);
      if (failure !== null) {
        this.#activate(null);
        this.#restored(id, test.differsAt() < 0);
        this.#quick = new Map([[id, test], ...this.#quick]);
        return killed(id, failure, ids);
      }
      judged += 1;
      if (judged === JUDGED) break;
    }
    return null;
  }

  async #secondStage({ activeMutant, limit, testFilter }) {
    this.#activate(null);
    const ids = testFilter.filter((id) => !id.startsWith(PREFIX));
    if (ids.length === 0) return null;
    const started = () => {
      this.#activate(activeMutant, limit);
    };
    const results = await this.files.run({ ids, started });
    const endless = this.#endless(limit);
    if (endless !== null) return endless;
    this.#activate(null);
    const failed = results.find(({ failure }) => failure !== null);
    if (failed === undefined) return null;
    // A file that fails outside of its tests has an empty name of a test.
    const same = (id) => (failed.id.endsWith('#') ? id.startsWith(failed.id) : id === failed.id);
    const again = await this.files.run({ ids: ids.filter(same) });
    this.#restored(failed.id, again.length > 0 && again.every(({ failure }) => failure === null));
    return killed(failed.id, failed.failure, testFilter);
  }

  /**
   * A test that failed must pass again without the mutant. If it does not, this mutant or one
   * before it left something behind; Stryker then repeats the run in a new process.
   */
  #restored(id, passes) {
    if (passes) return;
    this.#spoiled = true;
    if (this.#before > 0) throw new Error(`${id} fails without a mutant as well`);
  }

  /** The instrumentation throws when the mutant is reached too often. */
  #endless(hitLimit) {
    const reached = determineHitLimitReached(this.ns.hitCount, hitLimit);
    return reached === undefined ? null : { ...reached, status: MutantRunStatus.Timeout };
  }

  /** Limit of hits of a mutant in a test of the first stage, from the hits of its record. */
  #limitIn(id, mutant, limit) {
    if (limit === undefined) return undefined;
    const hits = this.ns.mutantCoverage?.perTest[id]?.[mutant.id] ?? 0;
    return Math.min(limit, HITS_TIMES * hits + HITS_LEAST);
  }

  /**
   * An endless loop need not reach the mutant: one that removes nothing from a list is outside of
   * the loop over it. So all places that count their coverage count down as well.
   */
  #guard(id, limit) {
    const { mutantCoverage } = this.ns;
    this.#left = Infinity;
    if (limit === undefined || mutantCoverage === undefined) return;
    const hits = Object.entries(mutantCoverage.perTest[id] ?? {});
    this.#left = HITS_TIMES * hits.reduce((sum, [, count]) => sum + count, 0) + 10 * HITS_LEAST;
    const pass = {
      get: () => 0,
      set: () => {
        this.#left -= 1;
        if (this.#left < 0) throw new Error('endless');
      },
    };
    mutantCoverage.static = Object.defineProperties(
      {},
      Object.fromEntries(hits.map(([place]) => [place, pass])),
    );
  }

  #unguard() {
    const { mutantCoverage } = this.ns;
    if (mutantCoverage !== undefined) mutantCoverage.static = {};
  }

  #activate(mutant, hitLimit) {
    const { ns } = this;
    ns.activeMutant = mutant?.id;
    ns.hitCount = hitLimit === undefined ? undefined : 0;
    ns.hitLimit = hitLimit;
  }

  #record(id) {
    if (this.#recorded.has(id)) return;
    this.#recorded.add(id);
    this.ns.currentTestId = id;
    this.#quick.get(id).record();
    this.ns.currentTestId = undefined;
  }
}

const killed = (id, failureMessage, ids) => ({
  status: MutantRunStatus.Killed,
  killedBy: [id],
  failureMessage,
  nrOfTests: ids.length,
});

function failureOf(test, upTo) {
  try {
    return test.judge(upTo);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
