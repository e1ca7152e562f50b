/** `sweep`: a search over a strategy's parameters, in one call. */
import { assignmentOf, type Assignment } from '../../search/samplers/space.ts';
import { searchIdentity } from '../../search/plan-search.ts';
import {
  selectionOf,
  sweep as search,
  type Selection,
  type SweepPlan,
  type SweepPorts,
} from '../../search/sweep.ts';
import { countedLog } from '../../search/trial-ledger.ts';
import { TrialLog, type Trial } from '../../search/trial-log.ts';
import { StrategyError, type ParameterSpecs } from '../../strategy/definition.ts';
import { namingOptions, planOptions, withData, type OptionsPlan } from './options.ts';
import {
  checkSearch,
  ledgerOf,
  searchOf,
  withRunner,
  type SearchOptions,
} from './search-options.ts';

export interface SweepOptions<P extends ParameterSpecs = ParameterSpecs> extends SearchOptions<P> {
  /** File of the trials: a sweep that was stopped continues from it. Strategy files only. */
  readonly log?: string;
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
  checkSearch(options, { log: 'text', onTrial: 'function' });
  const { signal, onTrial } = options;
  const stopped = (): boolean => signal?.aborted ?? false;
  // The types of a definition's parameters matter to its author alone.
  return withData(options as unknown as SweepOptions, (given) =>
    namingOptions(async () => {
      const planned = await planOptions(given, [given]);
      const { search: plan, perYear } = await searchOf(given, planned);
      const named = (trial: Trial): SweepTrial => ({
        ...trial,
        parameters: assignmentOf(plan.space, trial.point),
      });
      const ledger = await ledgerOf(options, planned);
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
    }),
  );
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
