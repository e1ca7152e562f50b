/**
 * Says whether promises were made or settled, so that a run knows when a strategy has left callbacks to be run, and need not wait for
 * a turn of the platform when it has not. Sees promises of every realm of this thread.
 */
import { promiseHooks } from 'node:v8';
import type { PromiseTurns } from '../backtest/run-backtest.ts';

/** Without a turn for so long, the platform has signals to tell. */
const OVERDUE_MS = 200;

export interface PromiseWatch extends PromiseTurns {
  stop(): void;
}

export function watchPromises(): PromiseWatch {
  let count = 0;
  let turnedAtMs = performance.now();
  const note = (): void => {
    count += 1;
  };
  const stopHook = promiseHooks.createHook({ init: note, settled: note }) as () => void;
  const lost: unknown[] = [];
  const onLost = (error: unknown): void => {
    lost.push(error);
  };
  process.on('unhandledRejection', onLost);
  const stop = (): void => {
    stopHook();
    process.off('unhandledRejection', onLost);
  };
  return {
    count: () => count,
    lost: () => lost.splice(0),
    // Every callback runs before the platform's next macrotask, those that callbacks add as well.
    drain: () =>
      new Promise((resolve) => {
        setImmediate(() => {
          turnedAtMs = performance.now();
          resolve();
        });
      }),
    overdue: () => performance.now() - turnedAtMs > OVERDUE_MS,
    stop,
  };
}
