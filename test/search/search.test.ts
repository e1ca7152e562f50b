/** Samplers of a parameter space: exact values, repeatable searches, published sequences. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  gridSampler,
  halvingSampler,
  randomSampler,
  sobolSampler,
  tpeSampler,
  type Sampler,
  type Observation,
} from '../../src/search/samplers/samplers.ts';
import { sobol } from '../../src/search/samplers/sobol.ts';
import {
  assignmentOf,
  keyOf,
  parseDimension,
  type Point,
} from '../../src/search/samplers/space.ts';
import { windowsOf } from '../../src/search/samplers/windows.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';

const random = (name = 'search') => new RandomStreams('7').stream(name);
const SPACE = [parseDimension('fast=5:50:5'), parseDimension('mode=a,b,c')];

/** Runs a sampler one result at a time until it ends; returns the proposals. */
function run(
  sampler: Sampler,
  score: (point: Point, budget: number) => number | null,
): Observation[][] {
  const observed: Observation[] = [];
  const proposed: Observation[] = [];
  const rounds: Observation[][] = [];
  for (;;) {
    const round = sampler(observed).map((proposal) => ({
      ...proposal,
      score: score(proposal.point, proposal.budget),
    }));
    if (round.length > 0) rounds.push(round);
    proposed.push(...round);
    const next = proposed[observed.length];
    if (next === undefined) return rounds;
    observed.push(next);
  }
}

describe('a dimension', () => {
  it.each([
    ['n=1:3:1', ['1', '2', '3']],
    ['n=0.1:0.4:0.1', ['0.1', '0.2', '0.3', '0.4']],
    ['n=-1:1:0.5', ['-1', '-0.5', '0', '0.5', '1']],
    ['n=1:2:0.4', ['1', '1.4', '1.8']],
    ['n=10,9,100', ['9', '10', '100']],
    ['n=slow, fast', ['slow', 'fast']],
    ['n=5', ['5']],
  ])('%s', (text, values) => {
    expect(parseDimension(text).values).toEqual(values);
  });
  it('a range without a step has a hundred steps', () => {
    expect(parseDimension('n=0:1').values).toHaveLength(101);
  });
  it.each([
    ['n', 'low:high:step'],
    ['=1:2', 'low:high:step'],
    ['n=', 'low:high:step'],
    ['9n=1', 'low:high:step'],
    ['n=1:2:3:4', 'a range must be'],
    ['n=2:1:1', "--vary 'n=2:1:1': high is below low"],
    ['n=1:2:0', 'step must be above 0'],
    ['n=1:2:-1', 'step must be above 0'],
    ['n=a:b:c', 'decimal numbers'],
    ['n=1:1e9:1', 'decimal numbers'],
    ['n=0:1000000:1', 'more than 100000 values'],
    ['n=a,a', 'a value occurs twice'],
    ['n=0.1,0.10', 'a value occurs twice'],
    ['n=1,2,01', 'a value occurs twice'],
    ['n=a,,b', 'a value is empty'],
  ])('%s is rejected', (text, words) => {
    expect(() => parseDimension(text)).toThrow(words);
  });
});

describe('samplers', () => {
  it('the grid has every point once, the last dimension fastest', () => {
    const [round] = run(gridSampler(SPACE), () => 0);
    expect(round).toHaveLength(30);
    expect(round?.slice(0, 4).map(({ point }) => assignmentOf(SPACE, point))).toEqual([
      { fast: '5', mode: 'a' },
      { fast: '5', mode: 'b' },
      { fast: '5', mode: 'c' },
      { fast: '10', mode: 'a' },
    ]);
  });
  it('a grid beyond the limit is rejected', () => {
    const wide = parseDimension('n=0:99999:1');
    expect(() => gridSampler([wide, { ...wide, name: 'm' }])).toThrow('10000000000 points');
  });
  it.each([
    ['random', (trials: number) => randomSampler(SPACE, trials, random())],
    ['sobol', (trials: number) => sobolSampler(SPACE, trials, random())],
    ['tpe', (trials: number) => tpeSampler(SPACE, trials, random())],
  ])('%s: points are distinct, at most all, and repeatable', (_name, make) => {
    for (const trials of [1, 7, 30, 100]) {
      const keys = (): string[] =>
        run(make(trials), ([a = 0]) => -Math.abs(a - 3))
          .flat()
          .map(({ point }) => keyOf(point));
      const found = keys();
      expect(new Set(found).size).toBe(Math.min(trials, 30));
      expect(found).toHaveLength(Math.min(trials, 30));
      expect(keys()).toEqual(found);
    }
  });

  it('tpe runs eight trials in parallel, and results do not depend on it', () => {
    const height = ([a = 0]: Point): number => -Math.abs(a - 3);
    const rounds = run(tpeSampler(SPACE, 30, random()), height);
    expect(rounds.map((round) => round.length)).toEqual([16, ...Array<number>(14).fill(1)]);
    const fewer = run(tpeSampler(SPACE, 20, random()), height).flat();
    expect(rounds.flat().slice(0, 20)).toEqual(fewer);
  });

  it('halving advances the best third to three times the data, and ends on all of it', () => {
    const space = [parseDimension('n=1:27:1')];
    const rounds = run(halvingSampler(space, 27, 3, random()), ([n = 0]) => n);
    expect(rounds.map((round) => round.length)).toEqual([27, 9, 3, 1]);
    expect(rounds.map((round) => round[0]?.budget)).toEqual([1 / 27, 1 / 9, 1 / 3, 1]);
    expect(rounds.at(-1)?.[0]?.point).toEqual([26]);
  });
  it('halving continues without failed trials', () => {
    const rounds = run(halvingSampler([parseDimension('n=1:9:1')], 9, 3, random()), ([n = 0]) =>
      n === 8 ? null : n,
    );
    expect(rounds.at(-1)?.[0]?.point).toEqual([7]);
    expect(run(halvingSampler(SPACE, 9, 3, random()), () => null)).toHaveLength(1);
  });

  it('tpe finds a maximum in fewer trials than random search', () => {
    const hill = [
      parseDimension('a=0:99:1'),
      parseDimension('b=0:99:1'),
      parseDimension('c=x,y,z'),
    ];
    const height = ([a = 0, b = 0, c = 0]: Point): number =>
      -((a - 70) ** 2) - (b - 20) ** 2 - (c === 1 ? 0 : 500);
    const best = (sampler: Sampler): number =>
      Math.max(
        ...run(sampler, height)
          .flat()
          .map(({ score }) => score ?? -Infinity),
      );
    let wins = 0;
    for (let seed = 0; seed < 20; seed++) {
      const streams = new RandomStreams(String(seed));
      const guided = best(tpeSampler(hill, 96, streams.stream('tpe')));
      const drawn = best(randomSampler(hill, 96, streams.stream('random')));
      if (guided > drawn) wins += 1;
    }
    expect(wins).toBeGreaterThanOrEqual(17);
  });
});

describe('Sobol', () => {
  const reference = JSON.parse(
    readFileSync(new URL('sobol-scipy.json', import.meta.url), 'utf8'),
  ) as { points: Record<string, number[]> };
  it('equals scipy’s, in 20 dimensions', () => {
    const points = sobol(20, null);
    const found = Array.from({ length: 64 }, () => points.next().value as number[]);
    for (const [index, wanted] of Object.entries(reference.points)) {
      expect(found[Number(index)]?.map((value) => value * 2 ** 32)).toEqual(wanted);
    }
  });
  it('a digital shift keeps one point in every quarter of each dimension', () => {
    const points = sobol(5, random());
    const found = Array.from({ length: 4 }, () => points.next().value as number[]);
    for (let dimension = 0; dimension < 5; dimension++) {
      const quarters = found.map((point) => Math.floor((point[dimension] ?? 0) * 4));
      expect(quarters.sort()).toEqual([0, 1, 2, 3]);
    }
  });
  it('more dimensions than in the table are rejected', () => {
    expect(() => sobol(21, null).next()).toThrow('1 to 20');
  });
});

describe('windows', () => {
  const plan = { fromUs: 0, toUs: 100, trainUs: 30, testUs: 20, purgeUs: 5 } as const;
  it('rolling', () => {
    expect(windowsOf({ ...plan, mode: 'rolling' })).toEqual([
      { trainFromUs: 0, trainToUs: 30, testFromUs: 35, testToUs: 55 },
      { trainFromUs: 20, trainToUs: 50, testFromUs: 55, testToUs: 75 },
      { trainFromUs: 40, trainToUs: 70, testFromUs: 75, testToUs: 95 },
    ]);
  });
  it('anchored: training keeps its start', () => {
    const windows = windowsOf({ ...plan, mode: 'anchored', purgeUs: 0 });
    expect(windows.map(({ trainFromUs, trainToUs }) => [trainFromUs, trainToUs])).toEqual([
      [0, 30],
      [0, 50],
      [0, 70],
      [0, 90],
    ]);
    expect(windows.at(-1)).toMatchObject({ testFromUs: 90, testToUs: 100 });
  });
  it('more than 100,000 are refused', () => {
    const long = { ...plan, toUs: 35 + 20 * 100_000, mode: 'rolling' } as const;
    expect(windowsOf(long)).toHaveLength(100_000);
    expect(() => windowsOf({ ...long, toUs: long.toUs + 20 })).toThrow(
      'test: 100001 windows; at most 100000 are searched',
    );
  });
  it('tests never overlap training, nor each other', () => {
    fc.assert(
      fc.property(
        fc.nat(1000),
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 200 }),
        fc.nat(50),
        fc.constantFrom('rolling' as const, 'anchored' as const),
        (extra, trainUs, testUs, purgeUs, mode) => {
          const toUs = trainUs + testUs + purgeUs + extra;
          const windows = windowsOf({ fromUs: 0, toUs, trainUs, testUs, purgeUs, mode });
          windows.forEach((window, i) => {
            expect(window.trainToUs + purgeUs).toBe(window.testFromUs);
            expect(window.testToUs).toBeLessThanOrEqual(toUs);
            if (i > 0) expect(window.testFromUs).toBe(windows[i - 1]?.testToUs);
          });
        },
      ),
    );
  });
  it('data too short for one window are rejected with the missing length', () => {
    const short = { ...plan, trainUs: 180e6, testUs: 60e6, mode: 'rolling' } as const;
    const need = 'after the warm-up; training, purge and half a test need 3m30s';
    expect(() => windowsOf({ ...short, toUs: 200_500_000 })).toThrow(`data span 3m20s ${need}`);
    expect(() => windowsOf({ ...short, toUs: -5 })).toThrow('the data span 0s');
  });
});
