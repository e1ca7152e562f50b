/**
 * Ways through a space. A sampler is told results in the order of their numbers, and which of them a proposal follows from is fixed
 * by its own number: so what it proposes depends on its seed and the results alone, never on how many workers ran them or
 * in which order they ended.
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
  /** Share of the data that it runs on, (0, 1]. */
  readonly budget: number;
}

export interface Observation extends Proposal {
  /** Higher is better; null when the trial failed or has no score. */
  readonly score: number | null;
}

/**
 * Asked once for every number of results, from none up by one: what may run from then on. The search is over when every proposal
 * has its result and there are no more.
 */
export type Sampler = (told: readonly Observation[]) => readonly Proposal[];

/** Every point, the last dimension fastest. */
export function gridSampler(space: Space): Sampler {
  const size = sizeOf(space);
  if (size > MAX_TRIALS) {
    throw new SearchError(`the grid has ${size} points; at most ${MAX_TRIALS} are run`);
  }
  return once(() => Array.from({ length: size }, (_, number) => gridPoint(space, number)));
}

/** Points drawn alike, no two the same. */
export function randomSampler(space: Space, trials: number, random: RandomStream): Sampler {
  return once(() => distinct(space, trials, randomPoints(space, random)));
}

/** Points that fill the space evenly. */
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
 * Successive halving (Jamieson and Talwalkar 2016): many points on little data, the best share of them on `eta` times as
 * much, until the last few run on all. `trials` is the number of points of the first round.
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
  return (told) => {
    // Who goes on is known when a round has ended.
    if (isOver || told.length < asked) return [];
    if (told.length > 0) {
      const lastRound = told.slice(-entrants.length);
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
 * The first sixteen drawn alike, the rest where good results are dense (tpe.ts). A proposal follows from all results but those of the
 * seven before it, so that eight may run at a time and none waits for a round to end.
 */
export function tpeSampler(space: Space, trials: number, random: RandomStream): Sampler {
  const total = Math.min(trials, sizeOf(space));
  const seen = new Set<string>();
  return (told) => {
    const scored = told.flatMap(({ point, score }) => (score === null ? [] : [{ point, score }]));
    const proposals: Proposal[] = [];
    while (seen.size < Math.min(total, Math.max(TPE_STARTUP, told.length + TPE_AT_ONCE))) {
      const isDrawn = seen.size < TPE_STARTUP || scored.length < TPE_LEAST;
      const proposed = isDrawn ? null : proposeTpe(space, scored, seen, random);
      const point = proposed ?? firstUnseen(space, seen, randomPoints(space, random));
      seen.add(keyOf(point));
      proposals.push({ point, budget: 1 });
    }
    return proposals;
  };
}

const TPE_STARTUP = 16;
/** The most trials of which none knows of the others. */
const TPE_AT_ONCE = 8;
/** Scores without which there is nothing to go by. */
const TPE_LEAST = 8;

/** Best first; equal scores in the order in which they were proposed. */
export function byScore(a: Observation, b: Observation): number {
  return (b.score ?? -Infinity) - (a.score ?? -Infinity);
}

function once(points: () => readonly Point[]): Sampler {
  return (told) => (told.length > 0 ? [] : points().map((point) => ({ point, budget: 1 })));
}

function* randomPoints(space: Space, random: RandomStream): Generator<Point> {
  for (;;) yield space.map(({ values }) => random.below(values.length));
}

/** The first so many different points; all of a space that has no more. */
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

/** A source that keeps repeating itself gives way to the first point of the grid that is left. */
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
