/** Worker thread of `snapshot-client.ts`: one snapshot. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../platform/thread-priority.ts';

export interface PostgresSnapshotTask {
  readonly address: string;
  readonly answerMs: number;
  /** End of a committed row, and its chain hash. */
  readonly seq: number;
  readonly chainHash: string;
}

/**
 * Rests for each unit of work. The priority of this thread covers neither the threads that compile
 * and collect for it nor the database.
 */
const RESTS = 3;

// Loads the engine at this priority, too.
lowerThreadPriority();
const { rehearse } = await import('../replication/rehearse.ts');
const { PostgresStore } = await import('./postgres-store.ts');
const { seq, chainHash, ...where } = workerData as PostgresSnapshotTask;
const store = new PostgresStore(where);
let resumedMs = performance.now();
async function rest(): Promise<void> {
  const workedMs = performance.now() - resumedMs;
  await new Promise((resolve) => setTimeout(resolve, RESTS * workedMs));
  resumedMs = performance.now();
}

const problem = await rehearse(store, { seq, chainHash }, rest).then(
  () => null,
  (error: unknown) => (error as Error).message,
);
await store.close();
parentPort?.postMessage(problem);
