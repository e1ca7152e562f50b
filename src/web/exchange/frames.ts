/**
 * Spreads the work that updates cause over time. Updates are collected where they arrive; the job
 * that shows them runs once for all of them. One job runs at a time, in a task of its own, so that
 * a task is no longer than one job, and rendering is a task between two jobs.
 */

/** Time between two jobs: one frame. */
const TICK_MS = 16;

interface Job {
  readonly run: () => void;
  readonly pauseMs: number;
  lastMs: number;
}

/** In the order in which they were asked for. */
const waiting: Job[] = [];
let isTicking = false;

/** Returns a function that asks for a run, which follows the last one by `pauseMs` or more. */
export function spread(run: () => void, pauseMs = 50): () => void {
  const job: Job = { run, pauseMs, lastMs: -Infinity };
  return () => {
    if (waiting.includes(job)) return;
    waiting.push(job);
    if (isTicking) return;
    isTicking = true;
    setTimeout(tick, TICK_MS);
  };
}

function tick(): void {
  const nowMs = performance.now();
  const at = waiting.findIndex(({ lastMs, pauseMs }) => nowMs - lastMs >= pauseMs);
  const [job] = at < 0 ? [] : waiting.splice(at, 1);
  if (waiting.length > 0) setTimeout(tick, TICK_MS);
  else isTicking = false;
  if (job === undefined) return;
  job.lastMs = nowMs;
  job.run();
}
