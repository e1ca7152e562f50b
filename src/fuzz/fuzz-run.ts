/**
 * One fuzz run: commands drawn from a profile are applied to a new exchange, and a checker is
 * called after each. The same profile and engine yield the same run. The commands of a failed run
 * replay without generator and checker.
 */
import type { Command } from '../engine/commands.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import type { EventSink } from '../engine/events.ts';
import { Exchange } from '../engine/exchange.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { Engine } from '../engine/read/views.ts';
import { CommandGenerator } from './generator.ts';
import { sinkOf, type Checker, type Violation } from './checker.ts';
import {
  mustBeFunction,
  mustBeObject,
  mustBeOptional,
  mustBeProfile,
  mustBeViolation,
  mustHave,
} from './fuzz-error.ts';
import type { FuzzProfile } from './profile.ts';
import { setUp } from './run-setup.ts';
import { thrown, thrownByCheck } from './thrown.ts';

export interface RunOptions {
  /** Creates another implementation of the engine. */
  readonly createEngine?: (config: ExchangeConfig) => Engine;
  /** Called after each command; true ends the run early. */
  readonly onCommand?: (command: Command, outcome: Outcome, engine: Engine) => boolean;
}

export interface Failure {
  readonly violation: Violation;
  readonly config: ExchangeConfig;
  /** All commands of the run, up to the one with the violation. */
  readonly commands: readonly Command[];
}

export interface RunResult {
  readonly profile: FuzzProfile;
  /** Commands applied. */
  readonly commands: number;
  readonly failure: Failure | null;
  readonly engine: Engine;
}

/**
 * `judging`: a checker, or a function that creates one for the run's configuration. Throws
 * `FuzzError`.
 */
export function runFuzz(
  profile: FuzzProfile,
  judging: Checker | ((config: ExchangeConfig) => Checker),
  options: RunOptions = {},
): RunResult {
  mustBeObject('options', options);
  const { onCommand } = options;
  mustBeOptional('onCommand', onCommand, mustBeFunction);
  mustBeOptional('createEngine', options.createEngine, mustBeFunction);
  mustBeProfile('profile', profile);
  const setup = setUp(profile);
  const checker = typeof judging === 'function' ? judging(setup.config) : judging;
  mustHave('checker', checker, ['after']);
  const engine = options.createEngine?.(setup.config) ?? new Exchange(setup.config);
  const generator = new CommandGenerator(profile, engine, setup);
  const commands: Command[] = [];
  const emit = sinkOf([
    generator.observe,
    ...(checker.onEvent === undefined ? [] : [checker.onEvent]),
  ]);
  const ended = (violation: Violation | null): RunResult => ({
    profile,
    commands: commands.length,
    failure: violation === null ? null : { violation, config: setup.config, commands },
    engine,
  });
  for (;;) {
    const command = generator.next();
    if (command === null) break;
    commands.push(command);
    const step = applyChecked(engine, command, emit, checker);
    if (step.violation !== null) return ended(step.violation);
    if (onCommand?.(command, step.outcome, engine) === true) return ended(null);
  }
  return ended(endChecked(engine, checker));
}

interface CheckedStep {
  readonly outcome: Outcome;
  readonly violation: Violation | null;
}

/** Applies one command and calls the checker; an exception of either is a violation. */
export function applyChecked(
  engine: Engine,
  command: Command,
  emit: EventSink,
  checker: Checker,
): CheckedStep {
  let outcome: Outcome;
  try {
    checker.before?.(engine, command);
    outcome = engine.apply(command, emit);
  } catch (error) {
    return { outcome: 'ok', violation: thrown(error) };
  }
  try {
    return { outcome, violation: asVerdict(checker.after(engine, command, outcome)) };
  } catch (error) {
    return { outcome, violation: thrownByCheck(error) };
  }
}

/** Calls the end of the checker; an exception is a violation. */
export function endChecked(engine: Engine, checker: Checker): Violation | null {
  try {
    return asVerdict(checker.end?.(engine));
  } catch (error) {
    return thrownByCheck(error);
  }
}

/**
 * A check written as assertions returns nothing. An answer that is no violation would pass, or end
 * the run without a reason.
 */
function asVerdict(found: Violation | null | undefined): Violation | null {
  if (found === null || found === undefined) return null;
  mustBeViolation('the answer of a checker', found);
  return found;
}
