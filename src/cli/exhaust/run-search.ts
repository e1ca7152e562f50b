/** Runs a search on worker threads until it is complete, fails, or reaches its time limit. */
import type { Search } from '../../fuzz/exhaust/search.ts';
import { isInterrupted, type Progress } from '../cli-support.ts';
import { ExhaustPool } from './exhaust-pool.ts';

export interface SearchLimits {
  readonly workers: number;
  /** Of this session. */
  readonly seconds: number;
}

export interface SearchWatch {
  readonly progress: Progress;
  /** Called between batches, when the last save is older than a minute. */
  readonly save: () => Promise<void>;
}

const SAVE_MS = 60_000;
/** Batches that one worker may be ahead of the slowest. */
const MOST_EARLY = 64;

/** Returns the duration in seconds. */
export async function runSearch(
  search: Search,
  { workers, seconds }: SearchLimits,
  { progress, save }: SearchWatch,
): Promise<number> {
  const started = performance.now();
  const elapsed = (): number => (performance.now() - started) / 1000;
  let saved = started;
  const pool = new ExhaustPool(workers);
  const running = new Map<number, Promise<void>>();
  const mayGoOn = (): boolean =>
    !isInterrupted() && search.failure === null && !search.isComplete && elapsed() < seconds;
  const edgesBefore = search.edges;
  try {
    while (mayGoOn()) {
      const batch = running.size < Math.min(workers * 2, MOST_EARLY) ? search.take() : null;
      if (batch !== null) {
        const { from, ...rest } = batch;
        const task = pool.expand(search.plan, rest);
        const done = (async () => {
          try {
            search.add(from, await task);
          } finally {
            running.delete(from);
          }
        })();
        running.set(from, done);
        continue;
      }
      await Promise.race(running.values());
      const rate = (search.edges - edgesBefore) / Math.max(0.001, elapsed());
      progress.update(search.fraction, `${noteOf(search)}, ${ratePer(rate)}`);
      if (performance.now() - saved < SAVE_MS) continue;
      await save();
      saved = performance.now();
    }
    if (mayWait(search)) await Promise.allSettled(running.values());
  } finally {
    // Batches that still run are rejected when the pool ends.
    for (const task of running.values()) void task.catch(() => undefined);
    await pool.close();
  }
  return elapsed();
}

/** Batches that run are awaited unless the user wants to stop. */
const mayWait = (search: Search): boolean => !isInterrupted() && search.failure === null;

const ratePer = (rate: number): string => `${Math.round(rate).toLocaleString('en')}/s`;

export function noteOf(search: Search): string {
  return [
    `depth ${String(search.depth)}`,
    `${search.states.toLocaleString('en')} states`,
    `${search.edges.toLocaleString('en')} edges`,
  ].join(', ');
}
