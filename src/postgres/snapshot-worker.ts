/** Worker thread of `snapshot-client.ts`: one snapshot. */
import { parentPort, workerData } from 'node:worker_threads';
import { rehearse } from '../replication/rehearse.ts';
import { PostgresStore } from './postgres-store.ts';

export interface PostgresSnapshotTask {
  readonly address: string;
  readonly answerMs: number;
  /** End of a committed row, and its chain hash. */
  readonly seq: number;
  readonly chainHash: string;
}

const { seq, chainHash, ...where } = workerData as PostgresSnapshotTask;
const store = new PostgresStore(where);
const problem = await rehearse(store, seq, chainHash).then(
  () => null,
  (error: unknown) => (error as Error).message,
);
await store.close();
parentPort?.postMessage(problem);
