/**
 * What a run is held against. A judge sees every event and is asked after every command; several judge side by side with
 * `allOf`. The invariants, the oracle in lockstep and properties of users' own are all judges.
 */
import type { Command } from '../engine/commands.ts';
import type { EventSink } from '../engine/events.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { Engine, InvariantViolation } from '../engine/read/views.ts';

/** What does not hold: the invariant or property by name, the rule, and what was found, in words. */
export type Violation = InvariantViolation;

export interface Checker {
  /** Every event of the command that is being applied, in order. */
  readonly onEvent?: EventSink;
  /** After each command; null while all is well. The first violation ends the run. */
  after(engine: Engine, command: Command, outcome: Outcome): Violation | null;
  /** After the last command of a run. */
  end?(engine: Engine): Violation | null;
}

/** One judge of many: asked in order, the first violation counts. */
export function allOf(...checkers: readonly Checker[]): Checker {
  const sinks = checkers.flatMap(({ onEvent }) => (onEvent === undefined ? [] : [onEvent]));
  return {
    onEvent: sinkOf(sinks),
    after: (engine, command, outcome) => {
      for (const checker of checkers) {
        const found = checker.after(engine, command, outcome);
        if (found !== null) return found;
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
