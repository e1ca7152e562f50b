/**
 * Background snapshots: a worker recovers the exchange from its folder up to a command, as the next
 * start would. It compares the chain hash with that of the served exchange and writes the state.
 * Every snapshot thus tests recovery.
 */
import { startThread } from '../platform/start-thread.ts';
import type { SnapshotReply, SnapshotTask } from './snapshot-worker.ts';

/** The journal on disk replays to a different state than the served one. */
export class SnapshotMismatch extends Error {
  override readonly name = 'SnapshotMismatch';
}

export interface WorkerSnapshot {
  /** Resolves with the file name; rejects with `SnapshotMismatch` or another failure. */
  readonly done: Promise<string>;
  readonly cancel: () => Promise<unknown>;
}

export function startSnapshotWorker(task: SnapshotTask): WorkerSnapshot {
  const worker = startThread('./snapshot-worker', import.meta.url, task);
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
      reject(new Error('the snapshot thread ended early'));
    });
  });
  return { done, cancel: () => worker.terminate() };
}
