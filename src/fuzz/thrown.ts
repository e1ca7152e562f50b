/** Exceptions as violations. */
import { InvariantError } from '../base/assert.ts';
import type { Violation } from './checker.ts';

/** A check that cannot go on: its copy of the exchange threw, or a read did. */
export function thrownByCheck(error: unknown): Violation {
  const found = thrown(error);
  return { ...found, invariant: 'check', says: 'every check of a command has a result' };
}

/** The engine threw. */
export function thrown(error: unknown): Violation {
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof InvariantError) {
    return {
      invariant: 'assertion',
      rule: 'R-2.8',
      says: 'no assertion of the engine fails',
      // Removes the sequence number: the same assertion in a shorter run is the same failure.
      detail: detail.replace(/^command \d+: /, ''),
    };
  }
  return { invariant: 'crash', rule: 'R-2.8', says: 'every command has an outcome', detail };
}

/** Whether the text of a violation identifies it, since an exception caused it. */
export const isThrown = ({ invariant }: Violation): boolean =>
  invariant === 'assertion' || invariant === 'crash' || invariant === 'check';
