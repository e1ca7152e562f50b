/**
 * Ends a process whose strategy does not return. A thread counts time without a beat: entering or
 * leaving a strategy and turns of the event loop are beats. Then it pauses this thread through the
 * inspector, reads its stack, and calls `answer` here if the strategy is in it. Nothing can unwind
 * code that catches everything, so the process must end. No result depends on the limit.
 *
 * Code inside a built-in function, such as a search of an array, cannot be paused: then the thread
 * prints the call and ends the process.
 */
import { Worker } from 'node:worker_threads';
import type { StrategyBundle } from './bundle.ts';
import { framesOf, placeOf } from './fault-place.ts';

/** `[beats, whether a strategy is being called, index of its file, index of the call's name]` */
const beats = new Int32Array(new SharedArrayBuffer(16));
/** Virtual time of the call, µs; not a number before the run. */
const atUs = new Float64Array(new SharedArrayBuffer(8));
const bundles = new Map<string, StrategyBundle>();
const files: string[] = [];
let thread: Worker | null = null;

/** Calls of a strategy, as errors name them. */
export const CALLS = [
  ...(['the file', 'the definition', 'create', 'save', 'load'] as const),
  ...(['onStart', 'onStop', 'onBook', 'onTrade', 'onBar', 'onFill', 'onOrder'] as const),
  ...(['onMark', 'onIndex', 'onLiquidation', 'onAccount', 'onData'] as const),
  ...(['onFunding', 'onTimer', 'a timer', 'code after an await'] as const),
] as const;
export type CallName = (typeof CALLS)[number];
const NUMBERS = Object.fromEntries(CALLS.map((name, i) => [name, i])) as Record<CallName, number>;

/** Name of the function of this realm that the thread calls. */
const ANSWER = 'orrery.handlerWatch';
const BEAT_MS = 100;

export interface HandlerWatchPorts {
  /** Of the process if a call is inside a built-in function, and `overdue` cannot be called. */
  readonly exitCode: number;
  /** The limit is exceeded; must end the process. Called inside the strategy's call. */
  readonly overdue: (message: string) => void;
  /**
   * A handler has run for a second (true), and then the event loop turns again (false). Listeners
   * of signals do not run in between.
   */
  readonly blocked?: (isBlocked: boolean) => void;
}

/** Data of the thread, `handler-watch-thread.ts`; it receives names of further files. */
export interface WatchThreadData {
  readonly beats: Int32Array;
  readonly atUs: Float64Array;
  readonly calls: readonly string[];
  readonly files: readonly string[];
  /** Exit code if a call is inside a built-in function, which cannot be paused. */
  readonly exitCode: number;
  /** null: no limit, but `blocked` is called. */
  readonly limitMs: number | null;
  readonly answer: string;
}

/** Calls of one strategy. */
export interface WatchedStrategy {
  /** `argument` is passed on, so that a function need not be made for each call. */
  call<T, A>(name: CallName, timeUs: number, run: (argument: A) => T, argument: A): T;
}

export function watchStrategy(bundle: StrategyBundle): WatchedStrategy {
  const { file } = bundle;
  bundles.set(file, bundle);
  if (!files.includes(file)) {
    files.push(file);
    thread?.postMessage(file);
  }
  const index = files.indexOf(file);
  return {
    call(name, timeUs, run, argument) {
      beats[0] = (beats[0] ?? 0) + 1;
      beats[2] = index;
      beats[3] = NUMBERS[name];
      atUs[0] = timeUs;
      beats[1] = 1;
      try {
        return run(argument);
      } finally {
        beats[1] = 0;
      }
    },
  };
}

let watching = false;

/** For the rest of the process; the first call counts. */
export function watchHandlers(limitMs: number | null, ports: HandlerWatchPorts): void {
  const script = new URL('./handler-watch-thread.js', import.meta.url);
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
  const { exitCode } = ports;
  const workerData: WatchThreadData = {
    ...{ beats, atUs, calls: CALLS, files: [...files], exitCode, limitMs, answer: ANSWER },
  };
  thread = new Worker(script, { workerData });
  thread.on('message', () => ports.blocked?.(false));
  thread.unref();
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
