/** The oracle in lockstep: compares outcome, events and state of every command. */
import type { ExchangeConfig } from '../engine/config.ts';
import type { EngineEvent } from '../engine/events.ts';
import type { Checker, Violation } from './checker.ts';
import { divergenceText, type Divergence } from '../oracle/divergence.ts';
import { Oracle, type OracleOptions } from '../oracle/oracle.ts';
import { mustBeConfig, mustBeObject } from './fuzz-error.ts';

export function oracleLockstep(config: ExchangeConfig, options: OracleOptions = {}): Checker {
  mustBeConfig('config', config);
  mustBeObject('options', options);
  const oracle = new Oracle(config, options);
  let emitted: EngineEvent[] = [];
  return {
    onEvent: (event) => emitted.push(event),
    after: (engine, command, outcome) => {
      const events = emitted;
      emitted = [];
      const found = oracle.follow(engine, command, outcome, events);
      return found === null ? null : divergenceViolation(found);
    },
    end: (engine) => {
      const found = oracle.compare(engine);
      return found === null ? null : divergenceViolation(found);
    },
  };
}

/** Divergences of one rule count as one failure; their numbers vary from run to run. */
export function divergenceViolation(divergence: Divergence): Violation {
  return {
    invariant: `oracle ${divergence.rule}`,
    rule: divergence.rule,
    says: 'the exchange and the oracle agree on every command',
    detail: divergenceText(divergence),
  };
}
