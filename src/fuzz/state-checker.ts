/** Invariants of the state (`checkInvariants`), checked periodically and at the end. */
import type { Checker } from './checker.ts';
import { mustBeInterval } from './fuzz-error.ts';

export function stateInvariants(every = 1): Checker {
  mustBeInterval('every', every);
  let applied = 0;
  return {
    after: (engine) => {
      applied += 1;
      return applied % every === 0 ? (engine.checkInvariants()[0] ?? null) : null;
    },
    end: (engine) => engine.checkInvariants()[0] ?? null,
  };
}
