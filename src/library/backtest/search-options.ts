/** Options that `sweep` and `walkForward` share: the space, the method, workers, the ledger. */
import { stateFolder } from '../../platform/state-folder.ts';
import { dataHash } from '../../run-plan/tape-source.ts';
import { TapeMemory } from '../../run-plan/tape-memory.ts';
import { checkObjective, METHODS, OBJECTIVES, type Method } from '../../search/choices.ts';
import { planSearch, type PlannedSearch, type SearchedStrategy } from '../../search/plan-search.ts';
import { MAX_TRIALS } from '../../search/samplers/space.ts';
import type { SweepPorts } from '../../search/sweep.ts';
import { TrialLedger } from '../../search/trial-ledger.ts';
import { runTrial } from '../../search/trial.ts';
import { TrialPool } from '../../search/workers/trial-pool.ts';
import {
  StrategyError,
  type ParameterSpecs,
  type StrategyDefinition,
} from '../../strategy/definition.ts';
import { loadStrategy } from '../../strategy-loader/sandbox.ts';
import { checkOptions, type OptionKinds } from './option-kinds.ts';
import { checkNames, type BacktestStrategy, type OptionsPlan, type RunOptions } from './options.ts';

/** A figure of `Metrics`; with a leading minus it is minimised. */
export type Objective = (typeof OBJECTIVES)[number] | `-${(typeof OBJECTIVES)[number]}`;

/**
 * Values to try: a list, or a range with both ends. A range without a step has 100 steps, or every
 * value of the parameter if there are fewer.
 */
export type Variation =
  | readonly (number | string | boolean)[]
  | {
      readonly min: number | string;
      readonly max: number | string;
      readonly step?: number | string;
    };

export interface SearchOptions<P extends ParameterSpecs = ParameterSpecs>
  extends RunOptions, BacktestStrategy<P> {
  /** Parameters to vary; every parameter over its own range unless given. */
  readonly vary?: { readonly [Name in keyof P]?: Variation };
  /** Default `sobol`. The grid tries every point and ignores `trials`. */
  readonly method?: Method;
  /** Runs of a search; of halving, those of its first round. 1 to 1,000,000, default 64. */
  readonly trials?: number;
  /** Halving keeps one trial in `eta`, 2 to 100. Default 3. */
  readonly eta?: number;
  /** Figure to maximise. Default `sharpe`. */
  readonly objective?: Objective;
  /**
   * Worker processes, 0 to 256; 0 runs in this process. One for each core unless given. A strategy
   * object runs in this process.
   */
  readonly workers?: number;
  /**
   * Ledger of trials: the folder of one, or true for that of the command. Trials of other searches
   * of all strategies on these data then count in the result. Default false. Strategy files only.
   */
  readonly ledger?: boolean | string;
}

const SEARCH_KINDS: OptionKinds = {
  ...{ vary: 'object', method: 'text', trials: 'number', eta: 'number', objective: 'text' },
  ...{ workers: 'number', ledger: 'flagOrText' },
};

function checkVariation(name: string, values: unknown): void {
  if (!Array.isArray(values)) {
    checkOptions(values, { min: 'length', max: 'length', step: 'length' }, name);
    return;
  }
  const kinds = ['number', 'string', 'boolean'];
  if (values.length > 0 && values.every((value) => kinds.includes(typeof value))) return;
  throw new StrategyError(`${name}: must be a list of numbers, text or flags, not empty`);
}

/** Throws `StrategyError` naming the option and its limit. */
export function checkSearch(
  options: Pick<
    SearchOptions,
    keyof RunOptions | 'vary' | 'method' | 'trials' | 'eta' | 'objective'
  >,
  more: OptionKinds,
): void {
  checkNames(options, { ...SEARCH_KINDS, ...more });
  for (const [name, values] of Object.entries(options.vary ?? {})) {
    if (values !== undefined) checkVariation(`vary.${name}`, values);
  }
  const { method = 'sobol', trials = 64, eta = 3, objective = 'sharpe', signal } = options;
  signal?.throwIfAborted();
  mustBeWithin('trials', trials, 1, MAX_TRIALS);
  mustBeWithin('eta', eta, 2, 100);
  if (!METHODS.includes(method)) {
    throw new StrategyError(`method '${method}': must be one of ${METHODS.join(', ')}`);
  }
  checkObjective(objective);
}

/** The search of checked options; `scoredUs` as for `planSearch`. */
export function searchOf(
  options: SearchOptions,
  planned: OptionsPlan,
  scoredUs: number | null = null,
): Promise<PlannedSearch> {
  const { method = 'sobol', trials = 64, eta = 3, objective = 'sharpe' } = options;
  return planSearch(
    planned.plan,
    definitionOf(planned),
    {
      ...{ method, trials, eta, objective, seed: planned.plan.seed },
      vary: Object.entries(options.vary ?? {}).flatMap(([name, values]) =>
        values === undefined ? [] : [dimensionText(name, values)],
      ),
    },
    scoredUs,
  );
}

/** Null unless the options ask for one. */
export async function ledgerOf(
  { ledger = false }: Pick<SearchOptions, 'ledger'>,
  planned: OptionsPlan,
): Promise<TrialLedger | null> {
  if (ledger === false || ledger === '') return null;
  const { plan, definitions } = planned;
  if (definitions.size > 0) {
    throw new StrategyError(
      'ledger: a strategy object has no hash that names its trials; give a file',
    );
  }
  const { name } = definitionOf(planned);
  const folder = ledger === true ? stateFolder(process.env) : ledger;
  return new TrialLedger(folder, name ?? '', await dataHash(plan.data ?? '', plan.markets ?? null));
}

function definitionOf({
  plan,
  definitions,
}: OptionsPlan): SearchedStrategy & Partial<StrategyDefinition> {
  const [only] = plan.strategies;
  const bundle = only?.bundle ?? null;
  const definition =
    bundle === null ? definitions.get(only?.id ?? '') : loadStrategy(bundle).definition;
  return definition ?? { parameters: {} };
}

function dimensionText(name: string, values: Variation): string {
  if (!('min' in values)) return `${name}=${values.map(String).join(',')}`;
  const { min, max, step } = values;
  return `${name}=${[min, max, ...(step === undefined ? [] : [step])].map(String).join(':')}`;
}

/** A runner of trials during `work`, and how many searches it can feed at once. */
export async function withRunner<T>(
  { workers }: Pick<SearchOptions, 'workers'>,
  { definitions }: OptionsPlan,
  stopped: () => boolean,
  work: (run: SweepPorts['run'], maxParallel: number) => Promise<T>,
): Promise<T> {
  if (workers !== undefined) mustBeWithin('workers', workers, 0, 256);
  const isObject = definitions.size > 0;
  if (isObject && workers !== undefined && workers > 0) {
    throw new StrategyError(
      `workers ${String(workers)}: a strategy object runs in this process, so must be 0; ` +
        'give the path of a strategy file to use worker processes',
    );
  }
  if (isObject || workers === 0) {
    // One run after the other: runs side by side would only share the core and its memory.
    let last: Promise<unknown> = Promise.resolve();
    const tapes = new TapeMemory();
    return work((task) => {
      const next = last.then(() => runTrial(task, stopped, { definitions, tapes }));
      last = next.catch(() => undefined);
      return next;
    }, 1);
  }
  const pool = new TrialPool(workers, stopped);
  try {
    // One more than the workers, so that none is idle during the last trial of a search.
    return await work(pool.run, pool.workers + 1);
  } finally {
    await pool.close();
  }
}

function mustBeWithin(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new StrategyError(
    `${name} ${String(value)}: must be a whole number from ${String(min)} to ${String(max)}`,
  );
}
