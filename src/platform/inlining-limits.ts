/**
 * How much the compiler of the language may put in one piece. Its measures are made for functions that call few others, while a
 * command passes through a hundred small ones, one rule each: there is room for 1,500 bytes of bytecode instead of 920, and functions
 * of up to 75 bytes, as a step of the chain hash is, always go into their callers, instead of up to 27. A field that up to sixteen
 * shapes of objects have, as `kind` is one of every command, is read in place; after four of them it would be a call.
 * docs/decisions/0011 says what that gains. A program that has no such settings says so on stderr and goes on as before.
 */
import { setFlagsFromString } from 'node:v8';

export function raiseInliningLimits(): void {
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=1500');
  setFlagsFromString('--max-inlined-bytecode-size-small=75');
  setFlagsFromString('--max-valid-polymorphic-map-count=16');
}
