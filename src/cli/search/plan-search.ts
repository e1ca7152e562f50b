/** The search that a command line asks for. */
import type { StrategyDefinition } from '../../strategy/definition.ts';
import { loadStrategy } from '../../strategy-loader/sandbox.ts';
import { planSearch, type PlannedSearch } from '../../search/plan-search.ts';
import { InputError } from '../cli-support.ts';
import { planOf } from '../run-options.ts';
import type { SearchArguments } from '../search-options.ts';

/** @param scoredUs length of the part that a run is scored on; all of the data unless given */
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
