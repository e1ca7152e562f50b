/**
 * Economic fuzzing: no coalition gains at the expense of others, and the search finds planted
 * defects. Arithmetic defects and removed risk rules are planted in builds of the exchange; each
 * must be found within a stated number of plans.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { makeArena } from '../../src/fuzz/economic/arena.ts';
import { playCrisis } from '../../src/fuzz/economic/crisis/play-crisis.ts';
import { makeWorld } from '../../src/fuzz/economic/crisis/crisis-world.ts';
import { makeGame } from '../../src/fuzz/economic/game.ts';
import { play } from '../../src/fuzz/economic/play.ts';
import { CoalitionSearch, searchArena, shortest, worthOf } from '../../src/fuzz/economic/search.ts';
import { bundle } from '../mutants/build.ts';
import { MUTANTS } from '../mutants/mutants.ts';
import { EFFORT } from '../setup/effort.ts';
import { huntPlanted } from './hunt-planted.ts';
import { PLANTED_RULES } from './planted-rules.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-economic-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

test.each(['still', 'walk'] as const)(
  'in an arena with a %s index no coalition gains for free',
  (kind) => {
    const plans = kind === 'still' ? 150 * EFFORT : 20 * EFFORT;
    const search = new CoalitionSearch({ seed: 'economic', kinds: [kind] }, plans).run();
    expect(search.plans).toBe(plans);
    expect(search.found, JSON.stringify(search.best?.plan)).toBe(false);
    expect(search.best?.worth).toBe(0n);
  },
);

test('in worlds with price gaps and oracle outages no coalition gains at the expense of others', () => {
  const plans = 1000 * EFFORT;
  const search = new CoalitionSearch({ seed: 'crisis', kinds: ['crisis'] }, plans).run();
  const { best } = search;
  expect(search.found, best?.arena.describe(best.plan).join('\n')).toBe(false);
  expect(search.plans).toBe(plans);
  const { insured } = search;
  if (insured === null) return;
  const dollars = (Number(insured.worth) / 1e6).toFixed(2);
  process.stdout.write(`insurance paid a coalition at most ${dollars} within R-6.7\n`);
});

test('worlds have three markets, gaps, oracle outages and every kind of honest party', () => {
  const worlds = Array.from({ length: 60 }, (_, i) => makeWorld(`variety-${String(i)}`));
  const seen = <T>(of: (world: (typeof worlds)[number]) => readonly T[]): Set<T> =>
    new Set(worlds.flatMap(of));
  expect(worlds.every(({ markets }) => markets.length === 3)).toBe(true);
  expect(seen(({ markets }) => markets.map(({ book }) => book)).size).toBe(4);
  expect(seen(({ markets }) => markets.map(({ shape }) => shape)).size).toBe(5);
  expect(worlds.some(({ markets }) => markets.some(({ path }) => path.includes(null)))).toBe(true);
  const accounts = seen(({ coalition }) => [new Set(coalition.map((m) => m.address)).size]);
  expect([...accounts].sort()).toEqual([2, 3, 4]);
  const cash = (id: 'vault' | 'insurance'): Set<number> =>
    seen((world) => [world.opened(0).books.account(world[id]).cash > 1000e6 ? 1 : 0]);
  expect(cash('vault').size).toBe(2);
  expect(cash('insurance').size).toBe(2);
});

test('a coalition that does nothing gains nothing', () => {
  const world = makeWorld('luck');
  expect(playCrisis(world, [])).toMatchObject({ free: 0, gain: 0, insurance: 0 });
  const game = makeGame('crisis', 'luck');
  expect(game.rate([]).worth).toBe(0n);
});

test('a search does not depend on the order of its arenas', () => {
  const options = { seed: 'side by side', kinds: ['still', 'crisis'] } as const;
  const results = [0, 1].map((arena) => searchArena(options, arena, 400));
  const [forward, backward] = [0, 1].map(() => new CoalitionSearch(options, 400));
  for (const i of [0, 1]) forward!.add(results[i]!);
  for (const i of [1, 0]) backward!.add(results[i]!);
  expect(forward).toMatchObject({ plans: 400, arenas: 2, isOver: true });
  expect(backward).toMatchObject({ plans: 400, arenas: 2 });
  const factsOf = ({ best }: CoalitionSearch): unknown => ({ ...best, arena: best?.arena.seed });
  expect(factsOf(backward!)).toEqual(factsOf(forward!));
});

test('doing nothing costs nothing, and trading costs its fees', () => {
  const arena = makeArena('still', 'costs');
  expect(worthOf(makeGame('still', 'costs'), [])).toBe(0n);
  const trade = { who: 0, other: 1, buys: true, part: 100, offsetPpm: 2000, originated: false };
  const order = { ...trade, kind: 'order', flag: 'ioc', waitMs: 0 } as const;
  const { gained, forFree } = play(arena, [order], []);
  expect(gained).toBeLessThan(0n);
  expect(forFree).toBe(gained);
});

/** The mutant, and the number of plans within which the search finds it. */
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
    // The unmodified exchange yields no gain for the same plan.
    expect(worthOf(makeGame('still', find.arena.seed), plan)).toBeLessThanOrEqual(0n);
  });
});

/** Each is found within 5,000 plans; long proofs test all of them, a normal run one. */
describe('planted rules', () => {
  test.each(PLANTED_RULES.map((rule) => [rule.attack, rule.id, rule] as const))(
    'attack %i, %s, is found within 5,000 plans',
    async (_attack, _id, rule) => {
      const hunt = await huntPlanted(rule, scratch, { seed: 'planted', plans: 5000 });
      expect(hunt.found, `after ${String(hunt.after)} plans`).toBe(true);
      // The unmodified exchange yields no gain for the same plan.
      const { worth } = makeGame('crisis', hunt.arenaSeed).rate(hunt.plan);
      expect(worth, hunt.text.join('\n')).toBeLessThanOrEqual(0n);
    },
  );
});
