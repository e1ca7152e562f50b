/** `sweep`: a search over a strategy's parameters, in one call. */
import { checkObjective, METHODS, OBJECTIVES, type Method } from '../../search/choices.ts';
import { stateFolder } from '../../platform/state-folder.ts';
import { dataHash } from '../../run-plan/tape-source.ts';
import { planSearch, searchIdentity, type SearchedStrategy } from '../../search/plan-search.ts';
import { assignmentOf, MAX_TRIALS, type Assignment } from '../../search/samplers/space.ts';
import {
  selectionOf,
  sweep as search,
  type Selection,
  type SweepPlan,
  type SweepPorts,
} from '../../search/sweep.ts';
import { countedLog, TrialLedger } from '../../search/trial-ledger.ts';
import { TrialLog, type Trial } from '../../search/trial-log.ts';
import { TapeMemory } from '../../run-plan/tape-memory.ts';
import { runTrial } from '../../search/trial.ts';
import { TrialPool } from '../../search/workers/trial-pool.ts';
import {
  StrategyError,
  type ParameterSpecs,
  type StrategyDefinition,
} from '../../strategy/definition.ts';
import { loadStrategy } from '../../strategy-loader/sandbox.ts';
import {
  checkNames,
  namingOptions,
  planOptions,
  type BacktestStrategy,
  type OptionsPlan,
  type RunOptions,
} from './options.ts';

/** A figure of `Metrics`; with a leading minus it is minimised. */
export type Objective = (typeof OBJECTIVES)[number] | `-${(typeof OBJECTIVES)[number]}`;

/** Values to try: a list, or a range with both ends. A range without a step has 100 steps. */
export type Variation =
  | readonly (number | string | boolean)[]
  | {
      readonly min: number | string;
      readonly max: number | string;
      readonly step?: number | string;
    };

export interface SweepOptions<P extends ParameterSpecs = ParameterSpecs>
  extends RunOptions, BacktestStrategy<P> {
  /** Parameters to vary; every parameter over its own range unless given. */
  readonly vary?: { readonly [Name in keyof P]?: Variation };
  /** Default `sobol`. The grid tries every point and ignores `trials`. */
  readonly method?: Method;
  /** Runs in all; of halving, those of its first round. 1 to 1,000,000, default 64. */
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
  /** File of the trials: a sweep that was stopped continues from it. Strategy files only. */
  readonly log?: string;
  /**
   * Ledger of trials: the folder of one, or true for that of the command. Trials of other searches
   * of all strategies on these data then count in `trials` of the result. Default false. Strategy
   * files only.
   */
  readonly ledger?: boolean | string;
  /** Receives the number of finished trials, of known ones, and the best so far. */
  readonly onTrial?: (done: number, known: number, best: SweepTrial | null) => void;
}

/** One run of a sweep; `error` is the reason of one that failed. */
export interface SweepTrial extends Trial {
  readonly parameters: Assignment;
}

export interface SweepResult extends Selection {
  /** In the order of their numbers, failed ones included. */
  readonly all: readonly SweepTrial[];
  /** Highest score on all of the data; null when no trial has a score. */
  readonly best: SweepTrial | null;
}

/**
 * Searches parameters. The same options give the same trials, whatever the number of workers.
 *
 * `trials` and `overfitting` of the result say how far the best can be believed: pass `trials` to
 * `metricsOf` for the deflated Sharpe ratio.
 *
 * @throws StrategyError or SearchError naming the option and its limit
 * @throws TapeError or FileError when the data or the log cannot be used
 */
export async function sweep<const P extends ParameterSpecs>(
  options: SweepOptions<P>,
): Promise<SweepResult> {
  checkNames(options, [
    ...['vary', 'method', 'trials', 'eta', 'objective', 'workers', 'log'],
    ...['ledger', 'onTrial'],
  ]);
  const { method = 'sobol', trials = 64, eta = 3, objective = 'sharpe', signal, onTrial } = options;
  signal?.throwIfAborted();
  mustBeWithin('trials', trials, 1, MAX_TRIALS);
  mustBeWithin('eta', eta, 2, 100);
  if (!METHODS.includes(method)) {
    throw new StrategyError(`method '${method}': must be one of ${METHODS.join(', ')}`);
  }
  checkObjective(objective);
  const stopped = (): boolean => signal?.aborted ?? false;
  return namingOptions(async () => {
    // The types of a definition's parameters matter to its author alone.
    const planned = await planOptions(options, [options]);
    const definition = definitionOf(planned);
    const request = { method, trials, eta, objective, seed: planned.plan.seed };
    const { search: plan, perYear } = await planSearch(planned.plan, definition, {
      ...request,
      vary: Object.entries(options.vary ?? {}).flatMap(([name, values]) =>
        values === undefined ? [] : [dimensionText(name, values)],
      ),
    });
    const named = (trial: Trial): SweepTrial => ({
      ...trial,
      parameters: assignmentOf(plan.space, trial.point),
    });
    const ledger = await ledgerOf(options, planned, definition);
    const found = await withRunner(options, planned, stopped, (run) =>
      withLog(options.log, planned, plan, (log) =>
        search(plan, {
          run,
          log: ledger === null ? log : countedLog(log, ledger.entryOf(plan)),
          cancelled: stopped,
          onTrial: (done, known, best) => onTrial?.(done, known, best && named(best)),
        }),
      ),
    );
    if (found.cancelled) signal?.throwIfAborted();
    return {
      ...selectionOf(found.trials, perYear, ledger?.count),
      all: found.trials.map(named),
      best: found.best && named(found.best),
    };
  });
}

async function ledgerOf(
  { ledger = false }: Pick<SweepOptions, 'ledger'>,
  { plan, definitions }: OptionsPlan,
  { name }: Partial<StrategyDefinition>,
): Promise<TrialLedger | null> {
  if (ledger === false || ledger === '') return null;
  if (definitions.size > 0) {
    throw new StrategyError(
      'ledger: a strategy object has no hash that names its trials; give a file',
    );
  }
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

async function withRunner<T>(
  { workers }: Pick<SweepOptions, 'workers'>,
  { definitions }: OptionsPlan,
  stopped: () => boolean,
  work: (run: SweepPorts['run']) => Promise<T>,
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
    });
  }
  const pool = new TrialPool(workers, stopped);
  try {
    return await work(pool.run);
  } finally {
    await pool.close();
  }
}

async function withLog<T>(
  path: string | undefined,
  { definitions }: OptionsPlan,
  plan: SweepPlan,
  work: (log: SweepPorts['log']) => Promise<T>,
): Promise<T> {
  if (path === undefined) return work({ get: () => undefined, add: () => undefined });
  if (definitions.size > 0) {
    throw new StrategyError(
      'log: a strategy object has no hash that names its trials; give a file',
    );
  }
  const log = TrialLog.open(path, searchIdentity(plan));
  try {
    return await work(log);
  } finally {
    log.close();
  }
}

function mustBeWithin(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new StrategyError(
    `${name} ${String(value)}: must be a whole number from ${String(min)} to ${String(max)}`,
  );
}
