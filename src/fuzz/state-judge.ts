/** The invariants of the exchange's state, asked after every so many commands. */
import type { InvariantViolation } from '../engine/views.ts';
import type { Judge, Violation } from './judge.ts';

export function stateInvariants(every = 1): Judge {
  let applied = 0;
  const first = (violations: readonly InvariantViolation[]): Violation | null => {
    const [found] = violations;
    return found === undefined ? null : describe(found);
  };
  return {
    after: (engine) => {
      applied += 1;
      return applied % every === 0 ? first(engine.checkInvariants()) : null;
    },
    end: (engine) => first(engine.checkInvariants()),
  };
}

function describe({ invariant, detail }: InvariantViolation): Violation {
  return { invariant, rule: 'docs/RULES.md', says: `${invariant} holds`, detail };
}
