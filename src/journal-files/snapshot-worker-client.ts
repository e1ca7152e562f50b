/**
 * Snapshots that nobody waits for: a worker recovers the exchange from its folder up to a command, as the next start would, compares the
 * chain hash with that of the exchange that is served, and writes the state. So every snapshot is also a rehearsal of recovery.
 */
import { Worker } from 'node:worker_threads';
import type { ShadowAnswer, ShadowTask } from './snapshot-worker.ts';

/** What is on disk replays to another state than the one that is served. */
export class ShadowMismatch extends Error {
  override readonly name = 'ShadowMismatch';
}

export interface ShadowSnapshot {
  /** The file's name. Rejects with `ShadowMismatch`, or with why there is no snapshot. */
  readonly done: Promise<string>;
  readonly cancel: () => Promise<unknown>;
}

export function startShadow(task: ShadowTask): ShadowSnapshot {
  const worker = startWorker(task);
  const done = new Promise<string>((resolve, reject) => {
    worker.once('message', (answer: ShadowAnswer) => {
      if ('name' in answer) resolve(answer.name);
      else if ('error' in answer) reject(new Error(answer.error));
      else {
        reject(
          new ShadowMismatch(
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
function startWorker(workerData: ShadowTask): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./snapshot-worker.js', import.meta.url), { workerData });
  }
  const script = new URL('./snapshot-worker.ts', import.meta.url).href;
  const loading = `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(script)}); })`;
  return new Worker(loading, { workerData, eval: true });
}
