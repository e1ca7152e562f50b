/** The oracle in lockstep: compares outcome, events and state of every command. */
import type { ExchangeConfig } from '../engine/config.ts';
import type { EngineEvent } from '../engine/events.ts';
import type { Checker, Violation } from './checker.ts';
import { divergenceText, type Divergence } from '../oracle/divergence.ts';
import { Oracle } from '../oracle/oracle.ts';

/** Commands between full comparisons; between them a part of the state is compared. */
const FULL_EVERY = 256;

export function oracleLockstep(config: ExchangeConfig): Checker {
  const oracle = new Oracle(config);
  let emitted: EngineEvent[] = [];
  return {
    onEvent: (event) => emitted.push(event),
    after: (engine, command, outcome) => {
      const events = emitted;
      emitted = [];
      const expected = oracle.apply(command);
      const { seq } = oracle;
      if (expected !== outcome) {
        const what = `the outcome of ${command.kind}`;
        return describe({ seq, what, oracle: expected, engine: outcome, rule: 'R-2.8' });
      }
      const found = oracle.compare(engine, events, seq % FULL_EVERY === 0);
      return found === null ? null : describe(found);
    },
    end: (engine) => {
      const found = oracle.compare(engine);
      return found === null ? null : describe(found);
    },
  };
}

/** Divergences of one rule count as one failure; their numbers vary from run to run. */
function describe(divergence: Divergence): Violation {
  return {
    invariant: `oracle ${divergence.rule}`,
    rule: divergence.rule,
    says: 'the exchange and the oracle agree on every command',
    detail: divergenceText(divergence),
  };
}
