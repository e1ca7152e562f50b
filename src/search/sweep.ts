/** A search over a strategy's parameters: parallel trials that are logged and can be resumed. */
import { countText } from '../base/count-text.ts';
import { StrategyError, type ParameterSpecs } from '../strategy/definition.ts';
import { overfitting, type Overfitting } from '../metrics/overfitting.ts';
import type { MetricsOptions } from '../metrics/options.ts';
import type { Trials } from '../metrics/metrics.ts';
import { centralMoment, extremes } from '../metrics/sample.ts';
import {
  byScore,
  gridSampler,
  halvingSampler,
  randomSampler,
  sobolSampler,
  tpeSampler,
  type Sampler,
} from './samplers/samplers.ts';
import {
  assignmentOf,
  parseDimension,
  type Dimension,
  type Division,
  type Space,
} from './samplers/space.ts';
import { RandomStreams } from '../virtual-time/rng.ts';
import type { RunPlan } from '../run-plan/run-plan.ts';
import type { Method } from './choices.ts';
import type { TrialLog, Trial } from './trial-log.ts';
import type { TrialResult, TrialTask } from './trial.ts';

export interface SweepPlan {
  readonly plan: RunPlan;
  readonly space: Space;
  readonly method: Method;
  /** Number of trials; for halving, of its first round. The grid uses every point. */
  readonly trials: number;
  /** Halving: 1 ÷ eta of a round's trials advance to the next. */
  readonly eta: number;
  readonly objective: string;
  readonly options: MetricsOptions;
  readonly seed: string;
  /** Time in which trials trade, of which a budget is a fraction. */
  readonly fromUs: number;
  readonly toUs: number;
  /**
   * Hashes of what trials read: data, units of markets and measured latency. Files may change in
   * place.
   */
  readonly inputs: readonly string[];
}

export interface SweepPorts {
  /** Null if stopped. */
  readonly run: (task: TrialTask) => Promise<TrialResult | null>;
  readonly log: Pick<TrialLog, 'get' | 'add'>;
  readonly onTrial: (done: number, known: number, best: Trial | null) => void;
  readonly cancelled: () => boolean;
}

export interface SweepResult {
  /** In the order of their numbers. */
  readonly trials: readonly Trial[];
  /** Best trial on all of the data; null if every trial failed or has no score. */
  readonly best: Trial | null;
  readonly cancelled: boolean;
}

/** The given dimensions, or every parameter of the strategy that is not fixed, over its range. */
export function spaceOf(
  specs: ParameterSpecs,
  vary: readonly string[],
  fixed: readonly string[] = [],
): Space {
  const dimensions = vary.map((text) =>
    parseDimension(text, (name) => (Object.hasOwn(specs, name) ? divisionOf(specs[name]) : {})),
  );
  for (const { name } of dimensions) {
    if (!Object.hasOwn(specs, name)) {
      const known = Object.keys(specs).join(', ');
      throw new StrategyError(`--vary ${name}: unknown parameter; valid are ${known}`);
    }
    if (fixed.includes(name)) {
      throw new StrategyError(`--vary ${name}: --param gives it a value; drop one of them`);
    }
  }
  const repeated = dimensions.find(
    ({ name }, i) => dimensions.findIndex((other) => other.name === name) < i,
  );
  if (repeated !== undefined) throw new StrategyError(`--vary ${repeated.name}: given twice`);
  const free = Object.entries(specs).filter(([name]) => !fixed.includes(name));
  const space = dimensions.length > 0 ? dimensions : free.map(ownRange);
  if (space.length === 0) throw new StrategyError('the strategy has no parameters to vary');
  return space;
}

function divisionOf(spec: ParameterSpecs[string] | undefined): Division {
  switch (spec?.kind) {
    case 'integer':
      return { leastStep: '1' };
    case 'decimal':
      return { leastStep: spec.step };
    case 'number':
      return spec.scale === undefined ? {} : { scale: spec.scale };
    default:
      return {};
  }
}

/** The nearest decimal of at most 12 places that is not below `low` nor above `high`. */
function boundText(value: number, { low, high }: { low: number; high: number }): string {
  const text = String(value);
  if (/^-?\d+(\.\d{1,12})?$/.test(text)) return text;
  const near = [value, value + 1e-12, value - 1e-12].map((one) => one.toFixed(12));
  return near.find((one) => Number(one) >= low && Number(one) <= high) ?? text;
}

function ownRange([name, spec]: [string, ParameterSpecs[string]]): Dimension {
  switch (spec.kind) {
    case 'integer':
      return parseDimension(`${name}=${String(spec.min)}:${String(spec.max)}:1`);
    case 'number': {
      const range = { low: spec.min, high: spec.max };
      const [low, high] = [boundText(spec.min, range), boundText(spec.max, range)];
      return parseDimension(`${name}=${low}:${high}`, () => divisionOf(spec));
    }
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

/** Runs the search. Trials are identical for any number of workers and interruptions. */
export async function sweep(search: SweepPlan, ports: SweepPorts): Promise<SweepResult> {
  const sampler = samplerOf(search);
  const observed: Trial[] = [];
  /** By trial number. */
  const requested: Promise<Trial | null>[] = [];
  const ask = (): void => {
    for (const proposal of sampler(observed)) {
      const trial = oneTrial({ ...proposal, number: requested.length });
      // A failure ends the search when its turn comes.
      trial.catch(() => undefined);
      requested.push(trial);
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
    ports.onTrial(ended, requested.length, best);
    return trial;
  };
  ask();
  for (let next = requested[0]; next !== undefined; next = requested[observed.length]) {
    const trial = await next;
    if (trial === null) {
      const trials = (await Promise.all(requested)).filter((one) => one !== null);
      return { trials, best: bestOf(trials), cancelled: true };
    }
    observed.push(trial);
    ask();
  }
  return { trials: observed, best: bestOf(observed), cancelled: false };
}

/** The plan of a trial on a share of the time. */
export function planOfShare({ plan, fromUs, toUs }: SweepPlan, budget: number): RunPlan {
  return budget === 1 ? plan : { ...plan, toUs: Math.floor(fromUs + (toUs - fromUs) * budget) };
}

type Proposed = Pick<Trial, 'point' | 'budget' | 'number'>;

/** Null if the search was stopped. */
async function runOne(
  search: SweepPlan,
  proposal: Proposed,
  { run, cancelled }: SweepPorts,
): Promise<Trial | null> {
  if (cancelled()) return null;
  const { space, objective, options } = search;
  const result = await run({
    plan: planOfShare(search, proposal.budget),
    parameters: assignmentOf(space, proposal.point),
    objective,
    options,
  });
  return result === null ? null : { ...proposal, ...result };
}

/** Best trial on all of the data; ties go to the first. */
export function bestOf(trials: readonly Trial[]): Trial | null {
  const scored = trials.filter(({ score, budget }) => score !== null && budget === 1);
  return [...scored].sort((a, b) => byScore(a, b) || a.number - b.number)[0] ?? null;
}

/** Trials without a part in the variance of the ratios; empty if there are none. */
export function withoutRatioText(ratios: number, trials: number): string {
  if (ratios >= trials) return '';
  const have = `${String(ratios)} of ${countText(trials, 'trial')} ${ratios === 1 ? 'has' : 'have'}`;
  return ratios < 2
    ? `${have} a Sharpe ratio: the variance is unknown`
    : `${have} a Sharpe ratio: the variance is theirs`;
}

export interface Selection {
  /**
   * Input of the deflated Sharpe ratio: all trials, including failed ones and those of other
   * searches; the population variance of the Sharpe ratios of this search.
   */
  readonly trials: Trials;
  /** Trials of this search with a Sharpe ratio, of which the variance is. A failed one has none. */
  readonly ratios: number;
  /** Null below two complete trials or four returns, and if all returns are the same. */
  readonly overfitting: Overfitting | null;
}

const MAX_BLOCKS = 16;

/**
 * Selection bias of the best trial, from the number and spread of the trials.
 *
 * @param known number of trials with those of other searches
 */
export function selectionOf(
  trials: readonly Trial[],
  perYear: number,
  known = trials.length,
): Selection {
  const whole = trials.filter(({ budget, returns }) => budget === 1 && returns.length > 0);
  // The few that halving leaves are selected, so ratios on a share of the data count as well. The
  // error of a ratio without skill falls with the square root of its periods.
  const perPeriod = trials.flatMap(({ figures, budget }) =>
    figures?.sharpe == null ? [] : (figures.sharpe / Math.sqrt(perYear)) * Math.sqrt(budget),
  );
  const [periods = Infinity] = extremes(whole.map(({ returns }) => returns.length));
  const blocks = Math.min(MAX_BLOCKS, Math.floor(periods / 4) * 2);
  // Trials end together, so rows are compared from their ends.
  const rows = whole.map(({ returns }) => returns.slice(returns.length - periods));
  const [first = []] = rows;
  // A choice among equal trials selects nothing.
  const differ = rows.some((row) => row.some((value, i) => value !== first[i]));
  return {
    trials: {
      count: Math.max(known, trials.length),
      sharpeVariance: perPeriod.length < 2 ? null : centralMoment(perPeriod, 2),
    },
    ratios: perPeriod.length,
    overfitting: blocks < 2 || !differ ? null : overfitting(rows, blocks),
  };
}
