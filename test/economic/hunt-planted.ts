/** Builds the search with a planted rule in its engine and runs it. */
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type * as Search from '../../src/fuzz/economic/search.ts';
import { bundleWith } from '../mutants/build.ts';
import type { PlantedRule } from './planted-rules.ts';

const ENTRY = fileURLToPath(new URL('../../src/fuzz/economic/search.ts', import.meta.url));

export interface Hunt {
  readonly found: boolean;
  /** Number of plans tried until the finding. */
  readonly after: number;
  readonly arenaSeed: string;
  readonly plan: Search.Find['plan'];
  /** The plan and the figures of the finding, one line each. */
  readonly text: readonly string[];
}

export async function huntPlanted(
  { id, edits }: PlantedRule,
  folder: string,
  options: { readonly seed: string; readonly plans: number },
): Promise<Hunt> {
  const file = join(folder, `${id}.mjs`);
  await bundleWith(ENTRY, file, id, edits);
  const built = (await import(pathToFileURL(file).href)) as typeof Search;
  const search = new built.CoalitionSearch(
    { seed: options.seed, kinds: ['crisis'] },
    options.plans,
  ).run();
  const { best } = search;
  if (best === null || !search.found) {
    return { found: false, after: search.plans, arenaSeed: '', plan: [], text: [] };
  }
  const plan = built.shortest(best);
  return {
    found: true,
    after: best.after,
    arenaSeed: best.arena.seed,
    plan,
    text: [...best.arena.describe(plan), ...best.arena.explain(plan)],
  };
}
