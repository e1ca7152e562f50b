/** The search that a command line asks for. */
import type { StrategyDefinition } from '../../strategy/definition.ts';
import { stateFolder } from '../../platform/state-folder.ts';
import { dataHash } from '../../run-plan/tape-source.ts';
import type { SweepPlan } from '../../search/sweep.ts';
import { TrialLedger } from '../../search/trial-ledger.ts';
import { loadStrategy } from '../../strategy-loader/sandbox.ts';
import { planSearch, type PlannedSearch } from '../../search/plan-search.ts';
import { InputError } from '../cli-support.ts';
import { planOf } from '../run-options.ts';
import type { SearchArguments } from '../search-options.ts';

/** A search with its strategy, whose parameters the report names. */
export type SearchInput = PlannedSearch & {
  readonly definition: Pick<StrategyDefinition, 'name' | 'parameters'>;
};

/** Where the trials of a search run. */
export interface Place {
  readonly isRemote: boolean;
  /** How a stopped search continues, for messages. */
  readonly continuing: string;
  /** Number of trials known to the ledger, as the report counts them. */
  readonly known: (count: number | undefined) => Promise<number | undefined>;
}

export const LOCAL: Place = {
  isRemote: false,
  continuing: 'rerun the command to continue',
  known: (count) => Promise.resolve(count),
};

/** @param scoredUs length of the shortest scored run; all of the data unless given */
export async function searchOf(
  args: SearchArguments,
  scoredUs: number | null = null,
): Promise<PlannedSearch & { readonly definition: StrategyDefinition }> {
  const plan = await planOf([args.strategy], args);
  const [planned] = plan.strategies;
  if (planned?.bundle == null) throw new InputError('name a strategy file');
  const { definition } = loadStrategy(planned.bundle);
  const { method, trials, eta, objective, seed, vary = [] } = args;
  const request = { method, trials, eta, objective, seed, vary };
  return { ...(await planSearch(plan, definition, request, scoredUs)), definition };
}

/** The ledger of trials on these data; null if the command keeps none. */
export async function ledgerOf(
  { ledger }: SearchArguments,
  { plan }: SweepPlan,
  { name }: Pick<StrategyDefinition, 'name'>,
): Promise<TrialLedger | null> {
  if (!ledger) return null;
  const data = await dataHash(plan.data ?? '', plan.markets ?? null);
  return new TrialLedger(stateFolder(process.env), name, data);
}

export function ledgerText(count: number): string {
  return `${String(count)} trials on these data, with those of other searches and strategies`;
}
