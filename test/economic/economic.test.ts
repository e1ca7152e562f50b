/**
 * Economic fuzzing: nobody gets richer for free, and the search would find it if somebody could. That it would is shown on holes that
 * are planted in a build of the exchange, each to be found within a stated number of plans.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { makeArena } from '../../src/fuzz/economic/arena.ts';
import { play } from '../../src/fuzz/economic/play.ts';
import { CoalitionSearch, searchArena, shortest, worthOf } from '../../src/fuzz/economic/search.ts';
import { bundle } from '../mutants/build.ts';
import { MUTANTS } from '../mutants/mutants.ts';
import { EFFORT } from '../setup/effort.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-economic-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test.each(['still', 'walk'] as const)(
  'in an arena whose index goes its way (%s) nothing is to be had for free',
  (kind) => {
    const plans = kind === 'still' ? 150 * EFFORT : 20 * EFFORT;
    const search = new CoalitionSearch({ seed: 'economic', kinds: [kind] }, plans).run();
    expect(search.plans).toBe(plans);
    expect(search.found, JSON.stringify(search.best?.plan)).toBe(false);
    expect(search.best?.worth).toBe(0n);
  },
);

test('a search is the same in whatever order its arenas are done', () => {
  const options = { seed: 'side by side', kinds: ['still'] } as const;
  const results = [0, 1].map((arena) => searchArena(options, arena, 400));
  const [forward, backward] = [0, 1].map(() => new CoalitionSearch(options, 400));
  for (const i of [0, 1]) forward!.add(results[i]!);
  for (const i of [1, 0]) backward!.add(results[i]!);
  expect(forward).toMatchObject({ plans: 400, arenas: 2, isOver: true });
  expect(backward).toMatchObject({ plans: 400, arenas: 2 });
  expect(backward!.best).toEqual(forward!.best);
});

test('doing nothing costs nothing, and trading costs its fees', () => {
  const arena = makeArena('still', 'costs');
  expect(worthOf(arena, [])).toBe(0n);
  const trade = { who: 0, other: 1, buys: true, part: 100, offsetPpm: 2000, originated: false };
  const order = { ...trade, kind: 'order', flag: 'ioc', waitMs: 0 } as const;
  const { gained, forFree } = play(arena, [order], []);
  expect(gained).toBeLessThan(0n);
  expect(forFree).toBe(gained);
});

/** The mutant, and within how many plans the search finds it. */
const HOLES = [
  ['originator-fee-from-nowhere', 500],
  ...(EFFORT === 1
    ? []
    : ([
        ['fill-loss-forgotten', 5000],
        ['burn-rounds-for-holder', 10_000],
      ] as const)),
] as const;

describe('planted holes', () => {
  test.each(HOLES)('%s is found within %i plans', async (id, plans) => {
    const mutant = MUTANTS.find((other) => other.id === id);
    expect(mutant).toBeDefined();
    const entry = fileURLToPath(new URL('../../src/fuzz/economic/search.ts', import.meta.url));
    const file = join(scratch, `${id}.mjs`);
    await bundle(entry, file, mutant ?? null);
    const built = (await import(pathToFileURL(file).href)) as {
      CoalitionSearch: typeof CoalitionSearch;
      shortest: typeof shortest;
      worthOf: typeof worthOf;
    };
    const search = new built.CoalitionSearch({ seed: 'planted', kinds: ['still'] }, plans).run();
    expect(search.found).toBe(true);
    const find = search.best;
    if (find === null) return;
    const plan = built.shortest(find);
    expect(plan.length).toBeLessThanOrEqual(find.plan.length);
    expect(built.worthOf(find.arena, plan)).toBeGreaterThan(0n);
    // The exchange as it is gives nothing for the same plan.
    expect(worthOf(makeArena('still', find.arena.seed), plan)).toBeLessThanOrEqual(0n);
  });
});
