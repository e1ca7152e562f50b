/** Worker bundled with a mutant: explores every world, and reports digests and the failure. */
import { parentPort, workerData } from 'node:worker_threads';
import { Expander, type ExhaustFailure } from '../../src/fuzz/exhaust/expand.ts';
import { Search } from '../../src/fuzz/exhaust/search.ts';
import { WORLD_NAMES } from '../../src/fuzz/exhaust/worlds.ts';

/** Result of the exploration of a build. */
export interface Explored {
  /** Hash of the events and states of all edges, by world; of the explored part after a failure. */
  readonly digests: readonly string[];
  readonly edges: number;
  readonly failure: ExhaustFailure | null;
}

/** Explores every world to a depth, with every edge checked; stops at the first failure. */
export function explore(depth: number, onBatch: () => void = () => undefined): Explored {
  const digests: string[] = [];
  let edges = 0;
  for (const world of WORLD_NAMES) {
    const expander = new Expander({ world, depth, oracleDepth: depth, samplePpm: 0, digest: true });
    const search = new Search(expander.plan, expander.rootKey());
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
  const { depth } = workerData as { readonly depth?: number };
  if (depth !== undefined) {
    parentPort.postMessage(explore(depth, () => parentPort?.postMessage('alive')));
  }
}
