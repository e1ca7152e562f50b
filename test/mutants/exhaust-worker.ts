/** Worker bundled with a mutant: explores worlds, and reports digests and the failure. */
import { parentPort, workerData } from 'node:worker_threads';
import { Expander, type ExhaustFailure } from '../../src/fuzz/exhaust/expand.ts';
import { Search } from '../../src/fuzz/exhaust/search.ts';
import type { WorldName } from '../../src/fuzz/exhaust/worlds.ts';

export interface Exploration {
  readonly worlds: readonly WorldName[];
  readonly depth: number;
  /** Every edge up to this depth is checked. */
  readonly checkedDepth: number;
}

/** Result of the exploration of a build. */
export interface Explored {
  /** Hash of the events and states of all edges, by world; of the explored part after a failure. */
  readonly digests: readonly string[];
  readonly edges: number;
  readonly failure: ExhaustFailure | null;
}

/** Explores world by world; stops at the first failure. */
export function explore(
  { worlds, depth, checkedDepth }: Exploration,
  onBatch: () => void = () => undefined,
): Explored {
  const digests: string[] = [];
  let edges = 0;
  for (const world of worlds) {
    const plan = { world, depth, oracleDepth: checkedDepth, samplePpm: 0, digest: true };
    const expander = new Expander(plan);
    const search = new Search(plan, expander.rootKey());
    for (let batch = search.take(); batch !== null; batch = search.take()) {
      search.add(batch.from, expander.expand(batch));
      onBatch();
      if (search.failure !== null) break;
    }
    digests.push(search.digest);
    edges += search.edges;
    if (search.failure !== null) return { digests, edges, failure: search.failure };
  }
  return { digests, edges, failure: null };
}

if (parentPort !== null && typeof workerData === 'object' && workerData !== null) {
  const { exploration } = workerData as { readonly exploration?: Exploration };
  if (exploration !== undefined) {
    parentPort.postMessage(explore(exploration, () => parentPort?.postMessage('alive')));
  }
}
