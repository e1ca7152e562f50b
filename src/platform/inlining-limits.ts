/**
 * Raises V8's inlining limits. The defaults suit functions that call few others; a command passes
 * through about a hundred small functions, one per rule. The bytecode budget becomes 1,500 bytes
 * instead of 920. Functions of up to 75 bytes, such as a step of the chain hash, are always
 * inlined; the default is 27. Property reads stay polymorphic up to 16 hidden classes instead of 4:
 * `kind` of every command is one. docs/decisions/0011 has measurements. If a flag does not exist,
 * the process reports it on stderr and continues without it.
 */
import { setFlagsFromString } from 'node:v8';

export function raiseInliningLimits(): void {
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=1500');
  setFlagsFromString('--max-inlined-bytecode-size-small=75');
  setFlagsFromString('--max-valid-polymorphic-map-count=16');
}
