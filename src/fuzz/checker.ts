/**
 * Checkers of a run: invariants, the oracle in lockstep, user-defined properties. A checker
 * receives every event and is called after every command.
 */
import type { Command } from '../engine/commands.ts';
import type { EventSink } from '../engine/events.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { Engine, InvariantViolation } from '../engine/read/views.ts';
import { mustHave } from './fuzz-error.ts';

/** A violated invariant or property: its name, rule and details. */
export interface Violation extends InvariantViolation {
  /** The named check that found it (`CHECKS`); none for an exception of the engine. */
  readonly check?: string;
}

export interface Checker {
  /** Receives every event of the current command, in order. */
  readonly onEvent?: EventSink;
  /** Called before each command. */
  readonly before?: (engine: Engine, command: Command) => void;
  /** Called after each command; null if there is no violation. The first violation ends the run. */
  after(engine: Engine, command: Command, outcome: Outcome): Violation | null;
  /** Called after the last command of a run. */
  end?(engine: Engine): Violation | null;
}

/** Combines checkers: called in order; the first violation wins. Throws `FuzzError`. */
export function allOf(...checkers: readonly Checker[]): Checker {
  for (const checker of checkers) mustHave('checker', checker, ['after']);
  const sinks = checkers.flatMap(({ onEvent }) => (onEvent === undefined ? [] : [onEvent]));
  const early = checkers.filter(({ before }) => before !== undefined);
  return {
    onEvent: sinkOf(sinks),
    ...(early.length === 0
      ? {}
      : {
          before: (engine: Engine, command: Command): void => {
            for (const checker of early) checker.before?.(engine, command);
          },
        }),
    after: (engine, command, outcome) => {
      for (const checker of checkers) {
        const found = checker.after(engine, command, outcome);
        // A check written as assertions returns nothing.
        if ((found ?? null) !== null) return found;
      }
      return null;
    },
    end: (engine) => {
      for (const checker of checkers) {
        const found = checker.end?.(engine) ?? null;
        if (found !== null) return found;
      }
      return null;
    },
  };
}

export function sinkOf(sinks: readonly EventSink[]): EventSink {
  const [first, second, ...others] = sinks;
  if (first === undefined) return () => undefined;
  if (second === undefined) return first;
  if (others.length === 0) {
    return (event) => {
      first(event);
      second(event);
    };
  }
  return (event) => {
    for (const sink of sinks) sink(event);
  };
}
