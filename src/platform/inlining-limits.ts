/**
 * Raises V8's inlining limits. The defaults suit functions that call few others; a command passes
 * through about a hundred small functions, one per rule. Results do not depend on them.
 * docs/decisions/0011 and 0089 have measurements. If a flag does not exist, the process reports it
 * on stderr and continues without it.
 */
import { setFlagsFromString } from 'node:v8';

/**
 * For every command. The bytecode budget becomes 1,500 bytes instead of 920. Functions of up to 75
 * bytes, such as a step of the chain hash, are always inlined; the default is 27. Property reads
 * stay polymorphic up to 16 hidden classes instead of 4: `kind` of every command is one.
 */
export function raiseInliningLimits(): void {
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=1500');
  setFlagsFromString('--max-inlined-bytecode-size-small=75');
  setFlagsFromString('--max-valid-polymorphic-map-count=16');
}

/**
 * For processes that apply millions of commands and do little else: 4,000 bytes, also for calls on
 * one path in a hundred instead of one in seven. The compiler takes half a second longer, which a
 * short backtest does not recover.
 */
export function raiseLimitsOfExchange(): void {
  raiseInliningLimits();
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=4000');
  setFlagsFromString('--min-inlining-frequency=0.01');
  setFlagsFromString('--max-inlined-bytecode-size-small=100');
}
