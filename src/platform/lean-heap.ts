/**
 * Limits the heap growth of a long run. A run allocates much and retains little, so by default V8
 * lets the old generation grow to several times the live size. Garbage is limited to 64 MiB, or a
 * fifth of a large heap. A fifth of a small heap would fill within a few thousand commands, and
 * major collections would take half of the run's time.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Garbage that may always collect before the next major collection. */
const ALLOWED_BYTES = 64 * 2 ** 20;
/** Bounds of the growth that starts a major collection. */
const MIN_PERCENT = 20;
const MAX_PERCENT = 400;

/** Growth of an old generation of this size, in percent, that starts a major collection. */
export function growthPercent(liveBytes: number): number {
  const percent = Math.round((100 * ALLOWED_BYTES) / Math.max(liveBytes, 1));
  return Math.min(MAX_PERCENT, Math.max(MIN_PERCENT, percent));
}

let observer: PerformanceObserver | null = null;

/** For the rest of the process. */
export function keepHeapLean(): void {
  limitGrowth();
  if (observer !== null) return;
  observer = new PerformanceObserver((list) => {
    // A major collection leaves the live size.
    if (list.getEntries().some(isMajor)) limitGrowth();
  });
  observer.observe({ entryTypes: ['gc'] });
}

function limitGrowth(): void {
  const percent = growthPercent(getHeapStatistics().used_heap_size);
  setFlagsFromString(`--heap-growing-percent=${String(percent)}`);
}

function isMajor(entry: object): boolean {
  const { detail } = entry as { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
