/**
 * V8's inlining limits for long runs of the engine alone: 4,000 bytes of bytecode instead of 1,500,
 * also for calls on one path in a hundred instead of one in seven. The compiler takes half a second
 * longer, which no command of `orrery` recovers. Decision record 0089 has measurements.
 */
import { setFlagsFromString } from 'node:v8';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';

export function raiseLongRunLimits(): void {
  raiseInliningLimits();
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=4000');
  setFlagsFromString('--min-inlining-frequency=0.01');
  setFlagsFromString('--max-inlined-bytecode-size-small=100');
}
