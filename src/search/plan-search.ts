/** Turns a run plan and the options of a search into the plan of the search. */
import { METRICS_DEFAULTS, type MetricsOptions } from '../metrics/options.ts';
import { readLatencyRows } from '../run-plan/latency-rows.ts';
import { DEFAULT_LATENCY, parseLatency } from '../run-plan/models.ts';
import type { RunPlan } from '../run-plan/run-plan.ts';
import { spanError } from '../run-plan/span-error.ts';
import { openTape } from '../run-plan/tape-source.ts';
import { lengthText } from '../run-plan/warm-up.ts';
import {
  parseParameters,
  StrategyError,
  type ParameterSpecs,
  type StrategyDefinition,
} from '../strategy/definition.ts';
import {
  assignmentOf,
  assignmentText,
  gridPoint,
  SearchError,
  sizeOf,
  type Assignment,
  type Space,
} from './samplers/space.ts';
import { RandomStreams } from '../virtual-time/rng.ts';
import { spaceOf, type SweepPlan } from './sweep.ts';
import { hashOf } from './trial-log.ts';
import { HANDLER_LIMIT_MS } from './workers/trial-pool.ts';

const DAY_US = 86_400_000_000;
const PERIODS_US = [DAY_US, 3_600_000_000, 60_000_000, 10_000_000, 1_000_000];
/** Min number of returns of a scored run. */
const MIN_PERIODS = 60;
/** Max points at which the strategy is asked for its warm-up. */
const MAX_ASKED = 10_000;

export interface SearchRequest extends Pick<
  SweepPlan,
  'method' | 'trials' | 'eta' | 'objective' | 'seed'
> {
  /**
   * Dimensions as text (`parseDimension`); empty varies every parameter over its own range, except
   * those of which the plan has a value.
   */
  readonly vary: readonly string[];
}

/** Parameters and warm-up of the searched strategy. */
export type SearchedStrategy = Pick<StrategyDefinition, 'parameters'> &
  Partial<Pick<StrategyDefinition, 'warmUpUs'>>;

export interface PlannedSearch {
  readonly search: SweepPlan;
  /** Periods per year of the scored returns; 1 if ratios are not annualised. */
  readonly perYear: number;
}

/**
 * All trials have one warm-up, the longest of any, and trade in one span of whole periods.
 *
 * @param definition the plan's first strategy
 * @param scoredUs length of the shortest scored run; all of the data unless given
 * @throws StrategyError, SearchError, TapeError or FileError naming what is wrong
 */
export async function planSearch(
  plan: RunPlan,
  definition: SearchedStrategy,
  { vary, method, trials, eta, objective, seed }: SearchRequest,
  scoredUs: number | null = null,
): Promise<PlannedSearch> {
  const { parameters: fixed = {} } = plan.strategies[0] ?? {};
  parseParameters(definition.parameters, fixed);
  const space = spaceOf(definition.parameters, vary, Object.keys(fixed));
  checkSpace(definition.parameters, space);
  const { firstUs, toUs, hashes } = await dataOf(plan);
  const lengthUs = scoredUs ?? toUs - Math.max(firstUs, plan.fromUs ?? firstUs);
  const periodUs = periodOf(lengthUs);
  const isYearly = lengthUs >= DAY_US;
  const options: MetricsOptions = {
    ...METRICS_DEFAULTS,
    period: periodUs,
    periodsPerYear: isYearly ? null : 1,
  };
  const longest = plan.warmUpUs === undefined ? longestWarmUp(plan, definition, space) : null;
  const warmUpUs = plan.warmUpUs ?? longest?.us ?? 0;
  // As in a run without a start: its clock begins at a whole second.
  const beginUs = Math.floor(firstUs / 1e6) * 1e6;
  const tradeFromUs = plan.fromUs ?? beginUs + warmUpUs;
  // All trials would fail by it, and count in the ledger.
  if (tradeFromUs >= toUs) throw tooLongWarmUp(warmUpUs, toUs - beginUs, longest?.of ?? {});
  const startUs = Math.ceil((beginUs + warmUpUs) / periodUs) * periodUs;
  const sampled = {
    ...{ ...plan, sampleUs: plan.sampleUs ?? periodUs, warmUpUs },
    ...(scoredUs === null ? wholePeriods(plan, { beginUs, startUs, toUs }, periodUs) : {}),
  };
  const fromUs =
    scoredUs === null
      ? Math.max(firstUs, plan.fromUs ?? beginUs + sampled.warmUpUs)
      : // The first training has the warm-up of the others.
        Math.max(
          firstUs,
          plan.fromUs === undefined ? startUs : Math.max(plan.fromUs, beginUs + warmUpUs),
        );
  return {
    // The order of the fields is a part of the log's identity.
    search: {
      ...{ plan: sampled, space, method, trials, eta },
      ...{ objective, options, seed, fromUs, toUs },
      inputs: [...hashes, ...latencyFiles(plan)],
    },
    perYear: isYearly ? (options.annualisation * DAY_US) / periodUs : 1,
  };
}

interface LongestWarmUp {
  readonly us: number;
  /** Values of the parameters on which it depends. */
  readonly of: Assignment;
}

/** Of every point of a small space, otherwise of its corners and all unordered values. */
function longestWarmUp(
  { strategies: [planned] }: RunPlan,
  definition: SearchedStrategy,
  space: Space,
): LongestWarmUp | null {
  const { warmUpUs } = definition;
  if (warmUpUs === undefined) return null;
  const usOf = (chosen: Assignment): number =>
    warmUpUs(parseParameters(definition.parameters, { ...planned?.parameters, ...chosen }));
  const isSmall = sizeOf(space) <= MAX_ASKED;
  const asked = space.map((dimension) => {
    const { ordered, values } = dimension;
    if (isSmall || !ordered || values.length < 3) return dimension;
    return { ...dimension, values: [...values.slice(0, 1), ...values.slice(-1)] };
  });
  let longest = 0;
  let of: Assignment = {};
  for (let i = Math.min(sizeOf(asked), MAX_ASKED) - 1; i >= 0; i--) {
    const chosen = assignmentOf(asked, gridPoint(asked, i));
    const us = usOf(chosen);
    if (us <= longest) continue;
    longest = us;
    of = chosen;
  }
  const decisive = asked.filter(({ name, values }) =>
    values.some((value) => usOf({ ...of, [name]: value }) !== longest),
  );
  const names = new Set(decisive.map(({ name }) => name));
  return {
    us: longest,
    of: Object.fromEntries(Object.entries(of).filter(([name]) => names.has(name))),
  };
}

function tooLongWarmUp(us: number, dataUs: number, of: Assignment): StrategyError {
  const text = assignmentText(of);
  const advice =
    text === ''
      ? 'use more data, or set a shorter warm-up'
      : `all trials have the longest one of the search, that of ${text}; --vary narrows a parameter`;
  return new StrategyError(
    `the warm-up of ${lengthText(us)} leaves no time to trade: the data have ${lengthText(dataUs)}; ${advice}`,
  );
}

/** A warm-up and an end that leave whole periods, unless the plan names its start or end. */
function wholePeriods(
  plan: RunPlan,
  { beginUs, startUs, toUs }: Readonly<Record<'beginUs' | 'startUs' | 'toUs', number>>,
  periodUs: number,
): Pick<RunPlan, 'toUs'> & { readonly warmUpUs?: number } {
  const endUs = Math.floor(toUs / periodUs) * periodUs;
  if (endUs - Math.max(startUs, plan.fromUs ?? startUs) < 2 * periodUs) return {};
  return {
    ...(plan.fromUs === undefined && plan.warmUpUs === undefined
      ? { warmUpUs: startUs - beginUs }
      : {}),
    ...(plan.toUs === undefined ? { toUs: endUs } : {}),
  };
}

/**
 * Refuses a value that the strategy does not accept before the first trial runs, and one that it
 * reads as another, such as 1e1 and 10: their trials are one.
 */
function checkSpace(specs: ParameterSpecs, space: Space): void {
  for (const { name, values } of space) {
    const texts = new Map<unknown, string>();
    for (const value of values) {
      const read = parseParameters(specs, { [name]: value })[name];
      const same = texts.get(read);
      if (same !== undefined) {
        throw new SearchError(`--vary ${name}: ${same} and ${value} are the same value`);
      }
      texts.set(read, value);
    }
  }
}

/** Start and end of the data, and hashes of their files and of the markets as they are read. */
async function dataOf({ data, markets, fromUs, toUs }: RunPlan): Promise<{
  firstUs: number;
  toUs: number;
  hashes: readonly string[];
}> {
  if (data === undefined) throw new StrategyError('--data names the dataset to search on');
  const range = { fromUs: fromUs ?? null, toUs: toUs ?? null };
  const tape = await openTape(data, markets ?? null, range);
  const from = Math.max(fromUs ?? -Infinity, tape.firstUs);
  const to = Math.min(toUs ?? Infinity, tape.lastUs);
  if (from >= to) throw spanError(data, tape);
  const played = tape.markets.map(({ note: _note, ...market }) => market);
  return { firstUs: tape.firstUs, toUs: to, hashes: [tape.sha256 ?? '', hashOf(played)] };
}

/** Hashes of the rows of measured latency. */
function latencyFiles({ latency, seed }: RunPlan): string[] {
  const hashes: string[] = [];
  parseLatency(latency ?? DEFAULT_LATENCY, {
    random: new RandomStreams(seed).stream('latency'),
    minRecordedUs: 0,
    rows: (path) => {
      const rows = readLatencyRows(path);
      hashes.push(hashOf(rows));
      return rows;
    },
  });
  return hashes;
}

function periodOf(spanUs: number): number {
  return PERIODS_US.find((period) => spanUs >= MIN_PERIODS * period) ?? 1_000_000;
}

/**
 * Identity of a search in its log: everything that its trials depend on.
 *
 * @param handlerLimitMs a trial that it ended is in the log as failed; null for no limit
 */
export function searchIdentity(
  { plan, trials, ...search }: SweepPlan,
  handlerLimitMs: number | null = HANDLER_LIMIT_MS,
): object {
  return {
    ...search,
    ...(handlerLimitMs === HANDLER_LIMIT_MS ? {} : { handlerLimitMs }),
    // In halving the number of first trials decides which of them continue.
    ...(search.method === 'halving' ? { trials } : {}),
    plan: {
      ...plan,
      strategies: plan.strategies.map(({ bundle, ...planned }) => ({
        ...planned,
        bundle: bundle?.sha256,
      })),
    },
  };
}
