/**
 * Samplers of a search space. A sampler receives results in the order of their numbers, and each
 * proposal depends on a fixed prefix of them. Proposals therefore depend on seed and results only,
 * not on the number of workers or the order of completion.
 */
import type { RandomStream } from '../../virtual-time/rng.ts';
import { sobol } from './sobol.ts';
import {
  gridPoint,
  keyOf,
  MAX_TRIALS,
  pointAt,
  SearchError,
  sizeOf,
  type Point,
  type Space,
} from './space.ts';
import { proposeTpe } from './tpe.ts';

export interface Proposal {
  readonly point: Point;
  /** Fraction of the data to run on, (0, 1]. */
  readonly budget: number;
}

export interface Observation extends Proposal {
  /** Higher is better; null if the trial failed or has no score. */
  readonly score: number | null;
}

/**
 * Called once for each number of results, from 0 upwards; returns further trials that may run. The
 * search ends when every proposal has its result and there are no more.
 */
export type Sampler = (observed: readonly Observation[]) => readonly Proposal[];

/** All points; the last dimension varies fastest. */
export function gridSampler(space: Space): Sampler {
  const size = sizeOf(space);
  if (size > MAX_TRIALS) {
    throw new SearchError(
      `the grid has ${size} points; at most ${MAX_TRIALS} are run: vary fewer values, or search with another method`,
    );
  }
  return once(() => Array.from({ length: size }, (_, number) => gridPoint(space, number)));
}

/** Uniform random points without repetition. */
export function randomSampler(space: Space, trials: number, random: RandomStream): Sampler {
  return once(() => distinct(space, trials, randomPoints(space, random)));
}

/** Points of a low-discrepancy sequence. */
export function sobolSampler(space: Space, trials: number, random: RandomStream): Sampler {
  return once(() => {
    const fractions = sobol(space.length, random);
    const points = (function* () {
      for (const at of fractions) yield pointAt(space, at);
    })();
    return distinct(space, trials, points);
  });
}

/**
 * Successive halving (Jamieson and Talwalkar 2016): many points on little data, the best fraction
 * on `eta` times as much, until the last few use all data. `trials` is the number of points of the
 * first round.
 */
export function halvingSampler(
  space: Space,
  trials: number,
  eta: number,
  random: RandomStream,
): Sampler {
  const first = distinct(space, trials, randomPoints(space, random));
  let rounds = 0;
  for (let left = first.length; left >= eta; left = Math.floor(left / eta)) rounds += 1;
  let budget = 1;
  for (let round = 0; round < rounds; round++) budget /= eta;
  let entrants: readonly Point[] = first;
  let asked = 0;
  let isOver = false;
  return (observed) => {
    // Survivors are known only when a round has ended.
    if (isOver || observed.length < asked) return [];
    if (observed.length > 0) {
      const lastRound = observed.slice(-entrants.length);
      const best = [...lastRound].filter(({ score }) => score !== null).sort(byScore);
      entrants = best.slice(0, Math.floor(entrants.length / eta)).map(({ point }) => point);
      budget = Math.min(1, budget * eta);
    }
    isOver = budget > 1 - 1e-9 || entrants.length === 0;
    asked += entrants.length;
    return entrants.map((point) => ({ point, budget: isOver ? 1 : budget }));
  };
}

/**
 * Sixteen uniform random points, then points of high density of good results (tpe.ts). A proposal
 * depends on all results but the seven before it, so that eight trials can run in parallel.
 */
export function tpeSampler(space: Space, trials: number, random: RandomStream): Sampler {
  const total = Math.min(trials, sizeOf(space));
  const seen = new Set<string>();
  return (observed) => {
    const scored = observed.flatMap(({ point, score }) =>
      score === null ? [] : [{ point, score }],
    );
    const proposals: Proposal[] = [];
    while (seen.size < Math.min(total, Math.max(TPE_STARTUP, observed.length + TPE_PARALLEL))) {
      const isDrawn = seen.size < TPE_STARTUP || scored.length < TPE_MIN_SCORES;
      const proposed = isDrawn ? null : proposeTpe(space, scored, seen, random);
      const point = proposed ?? firstUnseen(space, seen, randomPoints(space, random));
      seen.add(keyOf(point));
      proposals.push({ point, budget: 1 });
    }
    return proposals;
  };
}

const TPE_STARTUP = 16;
/** Max number of trials that are independent of each other. */
const TPE_PARALLEL = 8;
/** Min number of scores for a model. */
const TPE_MIN_SCORES = 8;

/** Best first; ties in the order of proposal. */
export function byScore(a: Observation, b: Observation): number {
  return (b.score ?? -Infinity) - (a.score ?? -Infinity);
}

function once(points: () => readonly Point[]): Sampler {
  return (observed) => (observed.length > 0 ? [] : points().map((point) => ({ point, budget: 1 })));
}

function* randomPoints(space: Space, random: RandomStream): Generator<Point> {
  for (;;) yield space.map(({ values }) => random.below(values.length));
}

/** The first `count` distinct points, or all points of a smaller space. */
function distinct(space: Space, count: number, points: Iterator<Point>): Point[] {
  if (count > MAX_TRIALS) throw new SearchError(`${count} trials; at most ${MAX_TRIALS}`);
  const seen = new Set<string>();
  const found: Point[] = [];
  const wanted = Math.min(count, sizeOf(space));
  while (found.length < wanted) {
    const point = firstUnseen(space, seen, points);
    seen.add(keyOf(point));
    found.push(point);
  }
  return found;
}

/** If the source keeps repeating points, returns the first unseen point of the grid. */
function firstUnseen(space: Space, seen: ReadonlySet<string>, points: Iterator<Point>): Point {
  for (let attempt = 0; attempt < PATIENCE; attempt++) {
    const next = points.next();
    if (next.done === true) break;
    if (!seen.has(keyOf(next.value))) return next.value;
  }
  let number = 0;
  while (seen.has(keyOf(gridPoint(space, number)))) number += 1;
  return gridPoint(space, number);
}

const PATIENCE = 200;
