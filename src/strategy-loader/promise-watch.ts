/**
 * Detects whether promises were created or settled, in every realm of this thread. If none were, a
 * run need not yield to the event loop after a handler.
 */
import { promiseHooks } from 'node:v8';
import type { PromiseTurns } from '../backtest/run-backtest.ts';
import { withoutGuest } from '../strategy/strategy-fault.ts';

/** Max time without an event-loop turn, so that the platform can deliver signals. */
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
    lost.push(withoutGuest(error));
  };
  process.on('unhandledRejection', onLost);
  const stop = (): void => {
    stopHook();
    process.off('unhandledRejection', onLost);
  };
  return {
    count: () => count,
    lost: () => lost.splice(0),
    // All microtasks, including those queued by others, run before the next macrotask.
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
