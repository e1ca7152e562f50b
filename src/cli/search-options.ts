/** Options of `sweep` and `walkforward` in addition to those of a run, and their workers. */
import { MAX_TRIALS } from '../search/samplers/space.ts';
import { checkObjective, METHODS, OBJECTIVES, type Method } from '../search/choices.ts';
import { InputError, isInterrupted, mustBeWhole } from './cli-support.ts';
import { handlerLimitMs } from './handler-limit.ts';
import type { RunArguments } from './run-options.ts';
import { TrialPool } from '../search/workers/trial-pool.ts';

export interface SearchArguments extends RunArguments {
  readonly strategy: string;
  readonly vary: readonly string[] | undefined;
  readonly method: Method;
  readonly trials: number;
  readonly eta: number;
  readonly objective: string;
  readonly workers: number | undefined;
  readonly ledger: boolean;
  readonly json: boolean;
}

export const SEARCH_OPTIONS = {
  vary: {
    type: 'string',
    array: true,
    describe: 'parameter to vary, name=low:high:step or name=a,b,c; default: all over their ranges',
  },
  method: { choices: METHODS, default: 'sobol', describe: 'search method' },
  trials: {
    type: 'number',
    default: 64,
    describe: 'number of trials; for halving, of its first round',
  },
  eta: { type: 'number', default: 3, describe: 'halving: one in this many trials advances' },
  objective: {
    type: 'string',
    default: 'sharpe',
    describe: `metric to maximise; a leading minus minimises: ${OBJECTIVES.join(', ')}`,
  },
  workers: { type: 'number', describe: 'number of processes; default: one per core' },
  ledger: {
    type: 'boolean',
    default: true,
    describe:
      'count the trials of other searches on these data; kept in ORRERY_STATE, by default ~/.local/state/orrery',
  },
} as const;

export function mustNameStrategy({ strategy }: SearchArguments): void {
  if (strategy === '')
    throw new InputError('name a strategy file (create one with: orrery new strategy)');
}

/** Throws `InputError` or `StrategyError`. */
export function checkSearchOptions(args: SearchArguments): void {
  mustBeWhole('trials', args.trials, 1, MAX_TRIALS);
  mustBeWhole('eta', args.eta, 2, 100);
  if (args.workers !== undefined) mustBeWhole('workers', args.workers, 1, 256);
  checkObjective(args.objective);
}

/**
 * Workers of a search. They start while the command loads and parses its input, which takes as
 * long.
 */
export async function withWorkers<T>(
  args: SearchArguments,
  work: (pool: TrialPool) => Promise<T>,
): Promise<T> {
  checkSearchOptions(args);
  const pool = new TrialPool(args.workers, isInterrupted, handlerLimitMs(args['handler-limit']));
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
}
