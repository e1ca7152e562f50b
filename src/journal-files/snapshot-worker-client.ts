/**
 * Snapshots that nobody waits for: a worker recovers the exchange from its folder up to a command, as the next start would, compares the
 * chain hash with that of the exchange that is served, and writes the state. So every snapshot is also a rehearsal of recovery.
 */
import { Worker } from 'node:worker_threads';
import type { SnapshotReply, SnapshotTask } from './snapshot-worker.ts';

/** What is on disk replays to another state than the one that is served. */
export class SnapshotMismatch extends Error {
  override readonly name = 'SnapshotMismatch';
}

export interface WorkerSnapshot {
  /** The file's name. Rejects with `SnapshotMismatch`, or with why there is no snapshot. */
  readonly done: Promise<string>;
  readonly cancel: () => Promise<unknown>;
}

export function startSnapshotWorker(task: SnapshotTask): WorkerSnapshot {
  const worker = startWorker(task);
  const done = new Promise<string>((resolve, reject) => {
    worker.once('message', (answer: SnapshotReply) => {
      if ('name' in answer) resolve(answer.name);
      else if ('error' in answer) reject(new Error(answer.error));
      else {
        reject(
          new SnapshotMismatch(
            `the exchange served has chain hash ${task.chainHash} after command ${String(task.seq)}, its journal replays to ${answer.chainHash}`,
          ),
        );
      }
    });
    worker.once('error', reject);
    worker.once('exit', () => {
      reject(new Error('its thread ended before it was done'));
    });
  });
  return { done, cancel: () => worker.terminate() };
}

/** Where sources are not compiled, as under tests, the thread needs the loader that this one has. */
function startWorker(workerData: SnapshotTask): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./snapshot-worker.js', import.meta.url), { workerData });
  }
  const script = new URL('./snapshot-worker.ts', import.meta.url).href;
  const loading = `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(script)}); })`;
  return new Worker(loading, { workerData, eval: true });
}
