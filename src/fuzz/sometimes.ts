/** Coverage states of a user: "sometimes" this event happens, which a campaign must reach. */
import type { Command } from '../engine/commands.ts';
import type { EngineEvent } from '../engine/events.ts';
import type { Engine } from '../engine/read/views.ts';
import type { Checker } from './checker.ts';
import { mustBeFunction, mustBeObject } from './fuzz-error.ts';
import type { Counts } from './reached-counts.ts';

/** A state by name: reached by an event, or after a command. */
export type Sometimes = Readonly<
  Record<
    string,
    {
      readonly event?: (event: EngineEvent) => boolean;
      readonly after?: (engine: Engine, command: Command) => boolean;
    }
  >
>;

export interface SometimesChecker extends Checker {
  /** How often each state was reached. */
  counts(): Counts;
  /** States that no run has reached so far. */
  never(): readonly string[];
}

/** Counts these states over all runs that it is part of; it finds no violation. */
export function sometimes(states: Sometimes): SometimesChecker {
  mustBeObject('states', states);
  for (const [name, state] of Object.entries(states)) mustBeObject(name, state);
  const reached = new Map(Object.keys(states).map((name) => [name, 0]));
  const entries = Object.entries(states);
  for (const [name, { event, after }] of entries) {
    mustBeFunction(`${name}: event or after`, event ?? after);
  }
  const note = (name: string): void => {
    reached.set(name, (reached.get(name) ?? 0) + 1);
  };
  return {
    onEvent: (seen) => {
      for (const [name, { event }] of entries) if (event?.(seen) === true) note(name);
    },
    after: (engine, command) => {
      for (const [name, { after }] of entries) if (after?.(engine, command) === true) note(name);
      return null;
    },
    counts: () => Object.fromEntries(reached),
    never: () => [...reached].flatMap(([name, count]) => (count === 0 ? [name] : [])),
  };
}
