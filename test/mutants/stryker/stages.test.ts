/** The stages of `npm run stryker` (`.ci/stryker-stages.mjs`), with mutants of a function here. */
import { beforeEach, describe, expect, test } from 'vitest';
// @ts-expect-error: a module of the build scripts, without types
import * as stages from '../../../.ci/stryker-stages.mjs';
import type { QuickTest } from './quick-tests.ts';

interface Namespace {
  activeMutant?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  currentTestId?: string | undefined;
  mutantCoverage?: { static: Counts; perTest: Record<string, Counts> };
}
type Counts = Record<string, number>;
interface FileResult {
  readonly id: string;
  readonly name: string;
  readonly failure: string | null;
}
interface FileRun {
  readonly ids?: readonly string[];
  readonly started?: () => void;
  readonly entered?: (id: string | undefined) => void;
}
interface Result {
  readonly status: string;
  readonly killedBy?: readonly string[];
}
interface Stages {
  dryRun(): Promise<{ readonly tests: readonly { id: string; status: string }[] }>;
  mutantRun(options: object): Promise<Result>;
}
const { Stages } = stages as {
  readonly Stages: new (parts: object) => Stages;
};

let ns: Namespace;
/** A mutant left something behind in the engine. */
let leftBehind: boolean;
let filesRun: (readonly string[])[];
/** Rounds of the loop that a mutant makes endless. */
let rounds: number;

beforeEach(() => {
  ns = {};
  leftBehind = false;
  filesRun = [];
  rounds = 0;
});

/** Counts the coverage of an instrumented place. */
function cover(place: string): void {
  const coverage = (ns.mutantCoverage ??= { static: {}, perTest: {} });
  const { currentTestId: id } = ns;
  const counts = id === undefined ? coverage.static : (coverage.perTest[id] ??= {});
  counts[place] = (counts[place] ?? 0) + 1;
}

/** Counts up to three, as an instrumented engine would. */
function three(): number {
  const is = (id: string): boolean => {
    if (ns.activeMutant !== id) return false;
    if (ns.hitCount !== undefined && ++ns.hitCount > (ns.hitLimit ?? Infinity))
      throw new Error('Hit count limit reached');
    return true;
  };
  if (is('four') || leftBehind) return 4;
  if (is('leaves')) leftBehind = true;
  const isOutside = is('outside');
  let n = 0;
  while (isOutside || is('endless') || (is('equivalent') ? n !== 3 : n < 3)) {
    cover('loop');
    n += 1;
    rounds += 1;
  }
  return n;
}

const counting: QuickTest = {
  name: 'counts',
  record: () => void three(),
  differsAt: () => {
    try {
      return three() === 3 && ns.activeMutant !== 'hash' ? -1 : 0;
    } catch {
      return 0;
    }
  },
  judge: () => (three() === 3 ? null : 'not three'),
};

/** One test of vitest, which alone notices the mutant `subtle`. */
const files = {
  run: ({ ids, started, entered }: FileRun): Promise<FileResult[]> => {
    filesRun.push(ids ?? []);
    started?.();
    entered?.('a.test.ts#b');
    const failure = ns.activeMutant === 'subtle' || leftBehind ? 'subtle' : null;
    entered?.(undefined);
    return Promise.resolve([{ id: 'a.test.ts#b', name: 'b', failure }]);
  },
};

const both = ['quick#counts', 'a.test.ts#b'];
const create = (): Stages => new Stages({ quick: [counting], file: 'x.ts', files, ns });
const mutant = (id: string, testFilter = both) => ({
  activeMutant: { id },
  hitLimit: 100,
  testFilter,
});

test('the dry run has the tests of both stages', async () => {
  const { tests } = await create().dryRun();
  expect(tests.map(({ id, status }) => [id, status])).toEqual(both.map((id) => [id, 0]));
});

describe('a mutant', () => {
  test('that the first stage notices does not reach the second', async () => {
    expect(await create().mutantRun(mutant('four'))).toMatchObject({
      status: 'killed',
      killedBy: ['quick#counts'],
    });
    expect(filesRun).toEqual([]);
    expect(ns.activeMutant).toBeUndefined();
  });

  test('that the first stage does not notice goes to the second', async () => {
    expect(await create().mutantRun(mutant('subtle'))).toMatchObject({
      status: 'killed',
      killedBy: ['a.test.ts#b'],
    });
    expect(filesRun).toEqual([['a.test.ts#b'], ['a.test.ts#b']]);
  });

  test('that changes no result survives', async () => {
    expect(await create().mutantRun(mutant('equivalent'))).toMatchObject({ status: 'survived' });
  });

  test('that changes the record, but nothing that a test judges, survives', async () => {
    expect(await create().mutantRun(mutant('hash'))).toMatchObject({ status: 'survived' });
  });

  test('without end is stopped by its hits', async () => {
    expect(await create().mutantRun(mutant('endless'))).toMatchObject({ status: 'timeout' });
  });

  test('without end is stopped by the hits of one test, however many all tests have', async () => {
    const endless = { ...mutant('endless'), hitLimit: 1_000_000_000 };
    expect(await create().mutantRun(endless)).toMatchObject({ status: 'timeout' });
    expect(rounds).toBeLessThan(10_000);
  });

  test('outside of the loop that it makes endless is stopped by other places', async () => {
    expect(await create().mutantRun(mutant('outside'))).toMatchObject({ status: 'timeout' });
    expect(rounds).toBeLessThan(50_000);
  });

  test('runs only the tests that reach it', async () => {
    const found = await create().mutantRun(mutant('four', ['a.test.ts#b']));
    expect(found.status).toBe('survived');
    expect(await create().mutantRun(mutant('subtle', ['quick#counts']))).toMatchObject({
      status: 'survived',
    });
  });
});

test('a mutant that leaves something behind does not kill the next one', async () => {
  const process = create();
  expect(await process.mutantRun(mutant('equivalent'))).toMatchObject({ status: 'survived' });
  // Only the second stage sees what is left, and it fails without the mutant as well.
  await expect(process.mutantRun(mutant('leaves'))).rejects.toThrow('fails without a mutant');
  await expect(process.mutantRun(mutant('equivalent'))).rejects.toThrow('left something behind');
  leftBehind = false;
  // Stryker repeats it in a new process.
  expect(await create().mutantRun(mutant('leaves'))).toMatchObject({ status: 'killed' });
});
