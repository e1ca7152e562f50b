/** Builds the search of a command line. */
import { parseParameters, StrategyError, type ParameterSpecs } from '../../strategy/definition.ts';
import { METRICS_DEFAULTS, type MetricsOptions } from '../../metrics/options.ts';
import type { Space } from '../../search/samplers/space.ts';
import type { RunPlan } from '../../run-plan/plan.ts';
import { loadStrategy } from '../../strategy-loader/sandbox.ts';
import { spaceOf, type SweepPlan } from '../../search/sweep.ts';
import { openTape } from '../../run-plan/tape-source.ts';
import { InputError } from '../cli-support.ts';
import { planOf } from '../run-options.ts';
import type { SearchArguments } from '../search-options.ts';

const DAY_US = 86_400_000_000;
const PERIODS_US = [DAY_US, 3_600_000_000, 60_000_000, 10_000_000, 1_000_000];
/** Min number of returns of a run for its metrics. */
const MIN_PERIODS = 60;

/** @param scoredUs length of the interval on which a run is scored; default: all of the data */
export async function searchOf(
  args: SearchArguments,
  scoredUs: number | null = null,
): Promise<{ search: SweepPlan; parameters: ParameterSpecs; perYear: number }> {
  const plan = await planOf([args.strategy], args);
  const [planned] = plan.strategies;
  if (planned === undefined) throw new InputError('name a strategy file');
  const { parameters } = loadStrategy(planned.bundle).definition;
  const space = spaceOf(parameters, args.vary ?? []);
  checkSpace(parameters, space);
  const { fromUs, toUs } = await spanOf(plan);
  const periodUs = periodOf(scoredUs ?? toUs - fromUs);
  const options: MetricsOptions = { ...METRICS_DEFAULTS, period: periodUs };
  return {
    search: {
      plan: { ...plan, sampleUs: plan.sampleUs ?? periodUs },
      space,
      method: args.method,
      trials: args.trials,
      eta: args.eta,
      objective: args.objective,
      options,
      seed: args.seed,
      fromUs,
      toUs,
    },
    parameters,
    perYear: (options.annualisation * DAY_US) / periodUs,
  };
}

/** Validates every value before the search, not in the thousandth trial. */
function checkSpace(specs: ParameterSpecs, space: Space): void {
  for (const { name, values } of space) {
    for (const value of values) parseParameters(specs, { [name]: value });
  }
}

async function spanOf({
  data,
  markets,
  fromUs,
  toUs,
}: RunPlan): Promise<{ fromUs: number; toUs: number }> {
  if (data === undefined) throw new InputError('--data is required: the dataset to search on');
  const tape = await openTape(data, markets ?? null, {
    fromUs: fromUs ?? null,
    toUs: toUs ?? null,
  });
  const from = Math.max(fromUs ?? -Infinity, tape.firstUs);
  const to = Math.min(toUs ?? Infinity, tape.lastUs);
  if (from >= to) throw new StrategyError(`${data}: no data between --from and --to`);
  return { fromUs: from, toUs: to };
}

function periodOf(spanUs: number): number {
  return PERIODS_US.find((period) => spanUs >= MIN_PERIODS * period) ?? 1_000_000;
}

/**
 * Identity of a search: all inputs that determine its trials. More trials of the same search extend
 * its log.
 */
export function searchIdentity({ plan, trials, ...search }: SweepPlan): object {
  return {
    ...search,
    // In halving, the number of starting trials determines which advance; elsewhere later trials
    // only depend on earlier ones.
    ...(search.method === 'halving' ? { trials } : {}),
    plan: {
      ...plan,
      strategies: plan.strategies.map(({ bundle, ...planned }) => ({
        ...planned,
        bundle: bundle.sha256,
      })),
    },
  };
}
