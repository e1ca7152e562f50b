/**
 * Limits the heap growth of a long run. A run allocates much and retains little, so by default V8
 * lets the old generation grow to several times the live size. More frequent major collections cost
 * time and keep the heap close to the live size.
 */
import { setFlagsFromString } from 'node:v8';

/** Growth of the old generation, in percent, that starts a major collection. */
const GROWING_PERCENT = 20;

export function keepHeapLean(): void {
  setFlagsFromString(`--heap-growing-percent=${String(GROWING_PERCENT)}`);
}
