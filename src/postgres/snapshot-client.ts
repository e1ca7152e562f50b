/** Snapshots in a thread of their own, so that the leader answers meanwhile. */
import { startThread } from '../platform/start-thread.ts';
import type { PostgresSnapshotTask } from './snapshot-worker.ts';

/** Rejects with the reason if no snapshot was stored. */
export function snapshotInThread(task: PostgresSnapshotTask): Promise<void> {
  const worker = startThread('./snapshot-worker', import.meta.url, task);
  worker.unref();
  return new Promise((resolve, reject) => {
    worker.once('message', (problem: string | null) => {
      if (problem === null) resolve();
      else reject(new Error(problem));
    });
    worker.once('error', reject);
    worker.once('exit', () => {
      reject(new Error('the snapshot thread ended early'));
    });
  });
}
