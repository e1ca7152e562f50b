/** Turns a run plan and the options of a search into the plan of the search. */
import { METRICS_DEFAULTS, type MetricsOptions } from '../metrics/options.ts';
import type { RunPlan } from '../run-plan/plan.ts';
import { openTape } from '../run-plan/tape-source.ts';
import { parseParameters, StrategyError, type ParameterSpecs } from '../strategy/definition.ts';
import type { Space } from './samplers/space.ts';
import { spaceOf, type SweepPlan } from './sweep.ts';

const DAY_US = 86_400_000_000;
const PERIODS_US = [DAY_US, 3_600_000_000, 60_000_000, 10_000_000, 1_000_000];
/** Min number of returns of a scored run. */
const MIN_PERIODS = 60;

export interface SearchRequest extends Pick<
  SweepPlan,
  'method' | 'trials' | 'eta' | 'objective' | 'seed'
> {
  /** Dimensions as text (`parseDimension`); empty varies every parameter over its own range. */
  readonly vary: readonly string[];
}

export interface PlannedSearch {
  readonly search: SweepPlan;
  /** Periods per year of the scored returns. */
  readonly perYear: number;
}

/**
 * @param specs parameters of the plan's first strategy
 * @param scoredUs length of the part that a run is scored on; all of the data unless given
 * @throws StrategyError, SearchError, TapeError or FileError naming what is wrong
 */
export async function planSearch(
  plan: RunPlan,
  specs: ParameterSpecs,
  { vary, method, trials, eta, objective, seed }: SearchRequest,
  scoredUs: number | null = null,
): Promise<PlannedSearch> {
  const space = spaceOf(specs, vary);
  checkSpace(specs, space);
  const { fromUs, toUs } = await spanOf(plan);
  const periodUs = periodOf(scoredUs ?? toUs - fromUs);
  const options: MetricsOptions = { ...METRICS_DEFAULTS, period: periodUs };
  const sampled = { ...plan, sampleUs: plan.sampleUs ?? periodUs };
  return {
    // The order of the fields is a part of the log's identity.
    search: {
      ...{ plan: sampled, space, method, trials, eta },
      ...{ objective, options, seed, fromUs, toUs },
    },
    perYear: (options.annualisation * DAY_US) / periodUs,
  };
}

/** Refuses a value that the strategy does not accept before the first trial runs. */
function checkSpace(specs: ParameterSpecs, space: Space): void {
  for (const { name, values } of space) {
    for (const value of values) parseParameters(specs, { [name]: value });
  }
}

async function spanOf({ data, markets, fromUs, toUs }: RunPlan): Promise<{
  fromUs: number;
  toUs: number;
}> {
  if (data === undefined) throw new StrategyError('--data names the dataset to search on');
  const range = { fromUs: fromUs ?? null, toUs: toUs ?? null };
  const tape = await openTape(data, markets ?? null, range);
  const from = Math.max(fromUs ?? -Infinity, tape.firstUs);
  const to = Math.min(toUs ?? Infinity, tape.lastUs);
  if (from >= to) throw new StrategyError(`${data}: nothing between --from and --to`);
  return { fromUs: from, toUs: to };
}

function periodOf(spanUs: number): number {
  return PERIODS_US.find((period) => spanUs >= MIN_PERIODS * period) ?? 1_000_000;
}

/** Identity of a search in its log: everything that its trials depend on. */
export function searchIdentity({ plan, trials, ...search }: SweepPlan): object {
  return {
    ...search,
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
