/** What `sweep` and `walkforward` take beside the options of a run, and the workers that they start with. */
import { MAX_TRIALS } from '../search/samplers/space.ts';
import { checkObjective, METHODS, OBJECTIVES, type Method } from '../search/choices.ts';
import { isInterrupted, mustBeWhole } from './cli-support.ts';
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
  readonly json: boolean;
}

export const SEARCH_OPTIONS = {
  vary: {
    type: 'string',
    array: true,
    describe: 'name=low:high:step or name=a,b,c; every parameter over its own range unless given',
  },
  method: { choices: METHODS, default: 'sobol', describe: 'how the space is searched' },
  trials: { type: 'number', default: 64, describe: 'runs; of halving, those of its first round' },
  eta: { type: 'number', default: 3, describe: 'halving keeps one in so many' },
  objective: {
    type: 'string',
    default: 'sharpe',
    describe: `what is maximised (minimised with a leading minus): ${OBJECTIVES.join(', ')}`,
  },
  workers: { type: 'number', describe: 'processes; one for each core unless given' },
} as const;

/** Workers for a search. They start while the command loads and reads what is searched, which takes as long. */
export async function withWorkers<T>(
  given: SearchArguments,
  work: (pool: TrialPool) => Promise<T>,
): Promise<T> {
  mustBeWhole('trials', given.trials, 1, MAX_TRIALS);
  mustBeWhole('eta', given.eta, 2, 100);
  if (given.workers !== undefined) mustBeWhole('workers', given.workers, 1, 256);
  checkObjective(given.objective);
  const pool = new TrialPool(given.workers, isInterrupted);
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
}
