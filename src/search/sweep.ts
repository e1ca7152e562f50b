/** A search over a strategy's parameters: trials that as many workers run as there are, logged and resumed. */
import { StrategyError, type ParameterSpecs } from '../strategy/definition.ts';
import { overfitting, type Overfitting } from '../metrics/overfitting.ts';
import type { MetricsOptions } from '../metrics/options.ts';
import type { Trials } from '../metrics/metrics.ts';
import { centralMoment } from '../metrics/sample.ts';
import {
  byScore,
  gridSampler,
  halvingSampler,
  randomSampler,
  sobolSampler,
  tpeSampler,
  type Sampler,
} from './samplers/samplers.ts';
import { assignmentOf, parseDimension, type Dimension, type Space } from './samplers/space.ts';
import { RandomStreams } from '../virtual-time/rng.ts';
import type { RunPlan } from '../run-plan/plan.ts';
import type { Method } from './choices.ts';
import type { TrialLog, Trial } from './trial-log.ts';
import type { TrialResult, TrialTask } from './trial.ts';

export interface SweepPlan {
  readonly plan: RunPlan;
  readonly space: Space;
  readonly method: Method;
  /** Trials in all; of halving, those of its first round. The grid takes every point. */
  readonly trials: number;
  /** Share of the trials of a halving round that do not go on: 1 − 1 ÷ eta. */
  readonly eta: number;
  readonly objective: string;
  readonly options: MetricsOptions;
  readonly seed: string;
  /** Of the data, that a budget is a share of. */
  readonly fromUs: number;
  readonly toUs: number;
}

export interface SweepPorts {
  /** null when it was stopped. */
  readonly run: (task: TrialTask) => Promise<TrialResult | null>;
  readonly log: Pick<TrialLog, 'get' | 'add'>;
  readonly onTrial: (done: number, known: number, best: Trial | null) => void;
  readonly cancelled: () => boolean;
}

export interface SweepResult {
  /** In the order of their numbers. */
  readonly trials: readonly Trial[];
  /** On all of the data; null when every trial failed or has no score. */
  readonly best: Trial | null;
  readonly cancelled: boolean;
}

/** The dimensions given, or every parameter of the strategy over its own range. */
export function spaceOf(specs: ParameterSpecs, vary: readonly string[]): Space {
  const given = vary.map(parseDimension);
  for (const { name } of given) {
    if (Object.hasOwn(specs, name)) continue;
    const known = Object.keys(specs).join(', ');
    throw new StrategyError(`--vary ${name}: no such parameter; there are ${known}`);
  }
  const doubled = given.find(({ name }, i) => given.findIndex((other) => other.name === name) < i);
  if (doubled !== undefined) throw new StrategyError(`--vary ${doubled.name}: is given twice`);
  const space = given.length > 0 ? given : Object.entries(specs).map(ownRange);
  if (space.length === 0) throw new StrategyError('the strategy has no parameters to vary');
  return space;
}

function ownRange([name, spec]: [string, ParameterSpecs[string]]): Dimension {
  switch (spec.kind) {
    case 'integer':
      return parseDimension(`${name}=${String(spec.min)}:${String(spec.max)}:1`);
    case 'number':
      return parseDimension(`${name}=${String(spec.min)}:${String(spec.max)}`);
    case 'decimal':
      return parseDimension(`${name}=${spec.min}:${spec.max}:${spec.step}`);
    case 'choice':
      return { name, values: [...spec.of], ordered: false };
    case 'flag':
      return { name, values: ['false', 'true'], ordered: false };
  }
}

function samplerOf({ method, space, trials, eta, seed }: SweepPlan): Sampler {
  const random = new RandomStreams(seed).stream(`search ${method}`);
  switch (method) {
    case 'grid':
      return gridSampler(space);
    case 'random':
      return randomSampler(space, trials, random);
    case 'sobol':
      return sobolSampler(space, trials, random);
    case 'halving':
      return halvingSampler(space, trials, eta, random);
    case 'tpe':
      return tpeSampler(space, trials, random);
  }
}

/** The same trials, whatever the number of workers and however often it was stopped. */
export async function sweep(search: SweepPlan, ports: SweepPorts): Promise<SweepResult> {
  const sampler = samplerOf(search);
  const told: Trial[] = [];
  /** By their numbers. */
  const asked: Promise<Trial | null>[] = [];
  const ask = (): void => {
    for (const proposal of sampler(told)) {
      const trial = oneTrial({ ...proposal, number: asked.length });
      // A failure ends the search when its turn comes.
      trial.catch(() => undefined);
      asked.push(trial);
    }
  };
  let ended = 0;
  let best: Trial | null = null;
  const oneTrial = async (proposal: Proposed): Promise<Trial | null> => {
    const logged = ports.log.get(proposal.number);
    const trial = logged ?? (await runOne(search, proposal, ports));
    if (trial === null) return null;
    if (logged === undefined) ports.log.add(trial);
    ended += 1;
    best = bestOf(best === null ? [trial] : [best, trial]);
    ports.onTrial(ended, asked.length, best);
    return trial;
  };
  ask();
  for (let next = asked[0]; next !== undefined; next = asked[told.length]) {
    const trial = await next;
    if (trial === null) {
      const trials = (await Promise.all(asked)).filter((one) => one !== null);
      return { trials, best: bestOf(trials), cancelled: true };
    }
    told.push(trial);
    ask();
  }
  return { trials: told, best: bestOf(told), cancelled: false };
}

type Proposed = Pick<Trial, 'point' | 'budget' | 'number'>;

/** null when the search was stopped before it ended. */
async function runOne(
  { plan, space, objective, options, fromUs, toUs }: SweepPlan,
  proposal: Proposed,
  { run, cancelled }: SweepPorts,
): Promise<Trial | null> {
  if (cancelled()) return null;
  const isWhole = proposal.budget === 1;
  const endUs = Math.floor(fromUs + (toUs - fromUs) * proposal.budget);
  const result = await run({
    plan: isWhole ? plan : { ...plan, toUs: endUs },
    parameters: assignmentOf(space, proposal.point),
    objective,
    options,
  });
  return result === null ? null : { ...proposal, ...result };
}

/** The best of the trials on all of the data; of equals the first. */
export function bestOf(trials: readonly Trial[]): Trial | null {
  const scored = trials.filter(({ score, budget }) => score !== null && budget === 1);
  return [...scored].sort((a, b) => byScore(a, b) || a.number - b.number)[0] ?? null;
}

export interface Selection {
  /** For the deflated Sharpe ratio: every trial counts, those that failed too. */
  readonly trials: Trials;
  /** null below two whole trials or four returns. */
  readonly overfitting: Overfitting | null;
}

const MAX_BLOCKS = 16;

/** What the number and the spread of the trials say about the best of them. */
export function selectionOf(trials: readonly Trial[], perYear: number): Selection {
  const whole = trials.filter(({ budget, returns }) => budget === 1 && returns.length > 0);
  const ratios = whole.flatMap(({ figures }) => figures?.sharpe ?? []);
  const perPeriod = ratios.map((ratio) => ratio / Math.sqrt(perYear));
  const periods = Math.min(...whole.map(({ returns }) => returns.length));
  const blocks = Math.min(MAX_BLOCKS, Math.floor(periods / 4) * 2);
  return {
    trials: { count: trials.length, sharpeVariance: centralMoment(perPeriod, 2) ?? 0 },
    overfitting:
      whole.length < 2 || blocks < 2
        ? null
        : overfitting(
            whole.map(({ returns }) => returns.slice(0, periods)),
            blocks,
          ),
  };
}
