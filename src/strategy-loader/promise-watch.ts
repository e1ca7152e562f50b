/**
 * Detects whether promises were created or settled, in every realm of this thread. If none were, a
 * run need not run callbacks after a handler.
 */
import { promiseHooks } from 'node:v8';
import type { PromiseTurns } from '../backtest/run-backtest.ts';
import { withoutGuest } from '../strategy/strategy-fault.ts';

/** Max time without an event-loop turn, so that the platform can deliver signals. */
const OVERDUE_MS = 200;
/** The clock is read at one of so many questions: a reading takes longer than most handlers. */
const QUESTIONS_A_READING = 16;

export interface PromiseWatch extends PromiseTurns {
  stop(): void;
}

/**
 * Runs queued callbacks and reports unhandled rejections, as the platform does between two turns of
 * the event loop. Not documented, and so absent in platforms that remove it (decision 0030).
 */
const { _tickCallback: drainNow } = process as { readonly _tickCallback?: () => void };

export function watchPromises(): PromiseWatch {
  let count = 0;
  let turnedAtMs = performance.now();
  let questions = 0;
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
    ...(drainNow === undefined ? {} : { atOnce: { drain: drainNow, run: inTurn } }),
    overdue: () => {
      questions = (questions + 1) % QUESTIONS_A_READING;
      return questions === 0 && performance.now() - turnedAtMs > OVERDUE_MS;
    },
    stop,
  };
}

/** In a callback of a promise no other one can run, so the work has a turn of its own. */
function inTurn<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(work());
      } catch (error) {
        // Of any type, because a strategy may throw any value.
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        reject(error);
      }
    });
  });
}
