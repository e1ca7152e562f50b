/** Worker thread of `snapshot-worker-client.ts`: one task, one reply. */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../platform/thread-priority.ts';

export interface SnapshotTask {
  readonly folder: string;
  /** Durable command to stop after, and its chain hash. */
  readonly seq: number;
  readonly chainHash: string;
}

export type SnapshotReply =
  { readonly name: string } | { readonly chainHash: string } | { readonly error: string };

// Loads the engine at this priority, too.
lowerThreadPriority();
const { orderId } = await import('../num/units.ts');
const { recover } = await import('./recover.ts');
const { writeSnapshot } = await import('./snapshots.ts');

async function snapshotWorker({ folder, seq, chainHash }: SnapshotTask): Promise<SnapshotReply> {
  const { engine, orderIds } = recover(folder, { untilSeq: seq });
  if (engine.seq !== seq) {
    return { error: `the journal ends with command ${String(engine.seq)}, not ${String(seq)}` };
  }
  if (engine.chainHash() !== chainHash) return { chainHash: engine.chainHash() };
  const known = orderIds.filter(([id]) => engine.order(orderId(id)) !== undefined);
  return { name: await writeSnapshot(folder, { seq, engine: engine.snapshot(), orderIds: known }) };
}

const answer = await snapshotWorker(workerData as SnapshotTask).catch(
  (error: unknown): SnapshotReply => ({
    error: (error as Error).message,
  }),
);
parentPort?.postMessage(answer);
