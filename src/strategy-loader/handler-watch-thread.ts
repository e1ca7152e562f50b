/** Thread of `handler-watch.ts`. */
import { writeSync } from 'node:fs';
import { Session, type Debugger } from 'node:inspector';
import { parentPort, workerData } from 'node:worker_threads';
import { endProcess } from '../platform/end-process.ts';
import type { WatchThreadData } from './handler-watch.ts';

const { beats, atUs, calls, exitCode, limitMs, answer, ...data } = workerData as WatchThreadData;
const files = [...data.files];
parentPort?.on('message', (file: string) => {
  files.push(file);
});
/** Time after which signals must end the process by themselves. */
const BLOCKED_MS = 1000;
const LOOK_MS = Math.min(100, Math.max(5, (limitMs ?? BLOCKED_MS) / 10));
/** Max wait for a pause: code of the platform itself, such as a sort, cannot be paused. */
const PAUSE_MS = 5000;
/** Time for the answer to print its message and to begin the end of the process. */
const END_MS = 200;
const FIRST_PAUSE_MS = 50;

let seen = -1;
/** Counted in looks, so that a machine that sleeps adds nothing. */
let stillMs = 0;
let isBlocked = false;
/** Wait for the next question; grows while no strategy is in the stack. */
let pauseMs = FIRST_PAUSE_MS;
let nextMs = BLOCKED_MS;
let isAsking = false;

setInterval(() => {
  const now = Atomics.load(beats, 0);
  if (now !== seen) {
    seen = now;
    stillMs = 0;
    pauseMs = FIRST_PAUSE_MS;
    nextMs = Math.min(BLOCKED_MS, limitMs ?? BLOCKED_MS);
    if (isBlocked) parentPort?.postMessage('moves');
    isBlocked = false;
    return;
  }
  stillMs += LOOK_MS;
  const isOverdue = limitMs !== null && stillMs >= limitMs;
  if (isOverdue && stillMs >= limitMs + PAUSE_MS && Atomics.load(beats, 1) === 1) {
    void endStuck(limitMs);
    return;
  }
  if (isAsking || stillMs < nextMs || (isBlocked && !isOverdue)) return;
  pauseMs *= 2;
  nextMs = stillMs + pauseMs;
  if (limitMs !== null && !isOverdue) nextMs = Math.min(nextMs, limitMs);
  ask(isOverdue);
}, LOOK_MS);

let isEnding = false;

/** Prints the call that is inside a built-in function, and ends the process. */
async function endStuck(ms: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  writeSync(2, `orrery: ${await stuckCall(ms)}\n`);
  endProcess(exitCode);
}

async function stuckCall(ms: number): Promise<string> {
  // Only here, because it loads the engine with it.
  const { dateText } = await import('../base/date-text.ts');
  const [, , file = 0, call = 0] = beats;
  const [timeUs = NaN] = atUs;
  const time = Number.isNaN(timeUs) ? 'before the run' : `at ${dateText(timeUs)}`;
  const limit = `${String(ms / 1000)} s`;
  return `strategy '${files[file] ?? ''}': ${calls[call] ?? ''} ${time} did not return within ${limit}: it is inside a built-in function`;
}

/** Pauses the main thread and calls `answer` in it with its stack. */
function ask(isOverdue: boolean): void {
  isAsking = true;
  const during = seen;
  const session = new Session();
  const files = new Map<string, string>();
  session.connectToMainThread();
  session.on('Debugger.scriptParsed', ({ params }) => {
    files.set(params.scriptId, params.url);
  });
  session.once('Debugger.paused', ({ params }) => {
    let ending: NodeJS.Timeout | undefined;
    const resume = (): void => {
      clearTimeout(ending);
      session.disconnect();
      isAsking = false;
    };
    // A handler may have returned, and another have begun, before the pause.
    if (Atomics.load(beats, 0) !== during) {
      resume();
      return;
    }
    const stack = params.callFrames.map((frame) => lineOf(frame, files)).join('\n');
    const call = `globalThis[Symbol.for('${answer}')](${String(isOverdue)}, ${JSON.stringify(stack)})`;
    session.post('Runtime.evaluate', { expression: call }, (_error, reply) => {
      isBlocked ||= reply.result.value === true;
      resume();
    });
    // The end of the process waits for the session.
    if (isOverdue) ending = setTimeout(resume, END_MS);
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}

/** As in `error.stack`. */
function lineOf(
  { functionName, location }: Debugger.CallFrame,
  files: ReadonlyMap<string, string>,
): string {
  const { scriptId, lineNumber, columnNumber = 0 } = location;
  const file = files.get(scriptId) ?? '';
  const place = `${file}:${String(lineNumber + 1)}:${String(columnNumber + 1)}`;
  return `    at ${functionName === '' ? 'a function' : functionName} (${place})`;
}
