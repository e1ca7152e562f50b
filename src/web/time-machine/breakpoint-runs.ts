/** Runs of breakpoints in the worker, a few milliseconds at a time. */
import type { EngineEvent } from '../../engine/events.ts';
import { compilePredicate } from '../../time-machine/expression/compile.ts';
import { holdsAfter, Scan, type ScanOptions } from '../../time-machine/scan.ts';
import type { Timeline } from '../../time-machine/timeline.ts';
import { Slices } from './slices.ts';

/** Commands between two readings of the clock. */
const BATCH = 16;

/** The nearest hit of any of the expressions; null without one. */
export async function nearestHit(
  timeline: Timeline,
  texts: readonly string[],
  options: ScanOptions,
  isStopped: () => boolean,
  onProgress: (at: number) => void,
): Promise<number | 'stopped' | null> {
  const slices = new Slices();
  let nearest: number | null = null;
  for (const text of texts) {
    const scan = new Scan(timeline, compilePredicate(text), options);
    let result = scan.run(BATCH);
    while (!result.done) {
      // A run forwards needs to go no further than a hit of another expression.
      if (options.direction === 'forward' && nearest !== null && result.at >= nearest) break;
      onProgress(result.at);
      if (!(await slices.next(isStopped))) return 'stopped';
      result = scan.run(BATCH);
    }
    const { hit } = result;
    if (hit === null) continue;
    if (nearest === null) nearest = hit;
    else
      nearest = options.direction === 'forward' ? Math.min(nearest, hit) : Math.max(nearest, hit);
  }
  return nearest;
}

/** Number of commands after which the expression begins to hold; null when stopped. */
export async function countHits(
  timeline: Timeline,
  text: string,
  isStopped: () => boolean,
): Promise<number | null> {
  const predicate = compilePredicate(text);
  const cursor = timeline.cursorAt(timeline.baseSeq);
  const { engine } = cursor;
  const slices = new Slices();
  let was = holdsAfter(predicate, { engine, command: null, outcome: 'ok', events: [] });
  let hits = 0;
  for (let command = cursor.peek(); command !== null; command = cursor.peek()) {
    const events: EngineEvent[] = [];
    const outcome = cursor.step(predicate.usesEvents ? (event) => events.push(event) : undefined);
    const is = holdsAfter(predicate, { engine, command, outcome: outcome ?? 'ok', events });
    if (is && !was) hits += 1;
    was = is;
    if (!(await slices.next(isStopped))) return null;
  }
  return hits;
}
