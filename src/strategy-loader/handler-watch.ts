/**
 * Ends a process whose strategy does not return. A thread counts time without a beat: entering or
 * leaving a strategy and turns of the event loop are beats. Then it pauses this thread through the
 * inspector, reads its stack, and calls `answer` here if the strategy is in it. Nothing can unwind
 * code that catches everything, so the process must end. No result depends on the limit.
 */
import { Worker } from 'node:worker_threads';
import type { StrategyBundle } from './bundle.ts';
import { framesOf, placeOf } from './fault-place.ts';

/** `[beats, whether a strategy is being called]` */
const beats = new Int32Array(new SharedArrayBuffer(8));
const bundles = new Map<string, StrategyBundle>();

/** Name of the function of this realm that the thread calls. */
const ANSWER = 'orrery.handlerWatch';
const BEAT_MS = 100;

export interface HandlerWatchPorts {
  /** The limit is exceeded; must end the process. Called inside the strategy's call. */
  readonly overdue: (message: string) => void;
  /**
   * A handler has run for a second (true), and then the event loop turns again (false). Listeners
   * of signals do not run in between.
   */
  readonly blocked?: (isBlocked: boolean) => void;
}

/** Data of the thread, `handler-watch-thread.ts`. */
export interface WatchThreadData {
  readonly beats: Int32Array;
  /** null: no limit, but `blocked` is called. */
  readonly limitMs: number | null;
  readonly answer: string;
}

/** Runs a part of a strategy. */
export function inStrategy<T>(run: () => T): T {
  return inStrategyWith(run, undefined);
}

/** `inStrategy` for a function that is not made for each call. */
export function inStrategyWith<T, A>(run: (argument: A) => T, argument: A): T {
  beats[0] = (beats[0] ?? 0) + 1;
  beats[1] = 1;
  try {
    return run(argument);
  } finally {
    beats[1] = 0;
  }
}

export function watchBundle(bundle: StrategyBundle): void {
  bundles.set(bundle.file, bundle);
}

let watching = false;

/** For the rest of the process; the first call counts. */
export function watchHandlers(limitMs: number | null, ports: HandlerWatchPorts): void {
  const thread = new URL('./handler-watch-thread.js', import.meta.url);
  // In sources, which only tests run, the script is not there.
  if (watching || !import.meta.url.endsWith('.js')) return;
  watching = true;
  const answer = (isOverdue: boolean, stack: string): boolean => {
    const found = strategyIn(stack);
    if (found === null) return false;
    const limit = `${String((limitMs ?? 0) / 1000)} s`;
    if (!isOverdue) ports.blocked?.(true);
    else ports.overdue(`${found.handler} did not return within ${limit} (${found.place})`);
    return true;
  };
  Object.defineProperty(globalThis, Symbol.for(ANSWER), { value: answer });
  setInterval(() => {
    beats[0] = (beats[0] ?? 0) + 1;
  }, BEAT_MS).unref();
  const workerData: WatchThreadData = { beats, limitMs, answer: ANSWER };
  const worker = new Worker(thread, { workerData });
  worker.on('message', () => ports.blocked?.(false));
  worker.unref();
}

/** The strategy's outermost function in a stack, and its place. */
function strategyIn(stack: string): { readonly handler: string; readonly place: string } | null {
  for (const bundle of bundles.values()) {
    const frames = framesOf(bundle.file, stack);
    const outermost = frames.at(-1);
    if (outermost === undefined) continue;
    const handler = /^\s*at ([\w$.]+) \(/.exec(outermost.text)?.[1] ?? 'a function';
    const place = placeOf(bundle, stack) ?? bundle.file;
    return { handler: `strategy '${bundle.file}': ${handler}`, place };
  }
  return null;
}
