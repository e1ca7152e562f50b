/**
 * Makes V8 optimize functions later, and compile all of them to baseline code at once. A checked
 * run of the fuzzer passes through thousands of functions, each called seldom: with the
 * defaults, a third of the processor time of a campaign is spent on compiling. The budget of a
 * function is 400,000 units instead of 67,584 or 135,168, by version. Decision record 0067 has
 * measurements.
 */
import { setFlagsFromString } from 'node:v8';

/** V8 of Node 22 has no such budget, and would report the flag on stderr as an error. */
const HAS_BUDGET = Number.parseInt(process.versions.v8, 10) < 12;

export function optimizeLate(): void {
  if (HAS_BUDGET) setFlagsFromString('--interrupt-budget=400000');
  setFlagsFromString('--always-sparkplug');
}
