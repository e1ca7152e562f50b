/** Snapshots in a thread of their own, so that the leader answers meanwhile. */
import { Worker } from 'node:worker_threads';
import type { PostgresSnapshotTask } from './snapshot-worker.ts';

/** Rejects with the reason if no snapshot was stored. */
export function snapshotInThread(task: PostgresSnapshotTask): Promise<void> {
  const worker = startWorker(task);
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

/** When running from source, as under tests, the thread needs a TypeScript loader. */
function startWorker(workerData: PostgresSnapshotTask): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./snapshot-worker.js', import.meta.url), { workerData });
  }
  const script = new URL('./snapshot-worker.ts', import.meta.url).href;
  const loading = `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(script)}); })`;
  return new Worker(loading, { workerData, eval: true });
}
