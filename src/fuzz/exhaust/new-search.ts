/** A search from its opening, and what identifies the engine and the operations of a plan. */
import { Expander, type ExhaustPlan } from './expand.ts';
import { Search } from './search.ts';
import { operationsOf } from './worlds.ts';

export interface SearchIdentity {
  readonly identity: string;
  readonly rootKey: Int32Array;
}

/** Identifies engine, opening and operations: the states one operation away, in order. */
export function searchIdentity(plan: ExhaustPlan): SearchIdentity {
  const expander = new Expander({ ...plan, oracleDepth: 0, samplePpm: 0, digest: false });
  const rootKey = expander.rootKey();
  const { states } = expander.expand({ length: 0, count: 1, paths: new Uint8Array() });
  const operations = operationsOf(plan.world).join();
  return { identity: `${rootKey.join()} ${states.keys.join()} ${operations}`, rootKey };
}

export function newSearch(plan: ExhaustPlan): Search {
  return new Search(plan, searchIdentity(plan).rootKey);
}
