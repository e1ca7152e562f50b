/** Checks a journal by all checks, for regressions and for a user's own runs. */
import { Exchange } from '../engine/exchange.ts';
import type { Command } from '../engine/commands.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import type { Engine } from '../engine/read/views.ts';
import { JournalReader, JournalWriter, type TornTail } from '../journal/format/frames.ts';
import { JournalError } from '../journal/format/journal-error.ts';
import { seq } from '../num/units.ts';
import { allOf, type Checker } from './checker.ts';
import { CHECK_NAMES, checkerOf, type CheckIntervals, type CheckName } from './checks/checks.ts';
import { applyChecked, endChecked, type Failure } from './fuzz-run.ts';
import {
  mustBeCommands,
  mustBeConfig,
  mustBeFunction,
  mustBeInterval,
  mustBeObject,
  mustBeOptional,
  mustHave,
} from './fuzz-error.ts';
import { stateInvariants } from './state-checker.ts';
import { streamInvariants } from './stream-checker.ts';

export interface CheckJournalOptions {
  /** Commands between full scans; default: 1 for short journals, else 64. */
  readonly every?: number;
  /** Checks by name; default: all, the oracle included. */
  readonly checks?: readonly CheckName[];
  /** Used instead of the named checks. */
  readonly checker?: Checker;
  readonly createEngine?: (config: ExchangeConfig) => Engine;
  /** Called after each command; true stops the check. */
  readonly onCommand?: (applied: number) => boolean;
}

/** Max commands of a journal that is scanned and compared after every command. */
const SHORT = 300;
const LONG_EVERY = 64;

/** All invariants of state and stream. */
export const allInvariants = (every = 1): Checker =>
  allOf(stateInvariants(every), streamInvariants(every));

/** Intervals for a journal of that many commands. */
export const intervalsOf = (commands: number): CheckIntervals => ({
  every: commands <= SHORT ? 1 : LONG_EVERY,
});

function mustBeOptions(options: CheckJournalOptions): void {
  mustBeObject('options', options);
  const { every, checker, createEngine, onCommand } = options;
  mustBeOptional('every', every, mustBeInterval);
  mustBeOptional('checker', checker, (field, value) => {
    mustHave(field, value, ['after']);
  });
  mustBeOptional('createEngine', createEngine, mustBeFunction);
  mustBeOptional('onCommand', onCommand, mustBeFunction);
}

/** The first violation with its commands; null if none. Throws `JournalError` or `FuzzError`. */
export function checkJournal(bytes: Uint8Array, options: CheckJournalOptions = {}): Failure | null {
  if (!(bytes instanceof Uint8Array)) {
    throw new JournalError('journal: must be the bytes of a journal');
  }
  mustBeOptions(options);
  const { config, commands } = commandsOf(bytes);
  return checkCommands(config, commands, options);
}

/** The commands of a journal, and its torn tail. Throws `JournalError`. */
export function commandsOf(bytes: Uint8Array): {
  readonly config: ExchangeConfig;
  readonly commands: readonly Command[];
  readonly torn: TornTail | null;
} {
  const reader = new JournalReader(bytes);
  const commands: Command[] = [];
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind === 'command') commands.push(frame.command);
  }
  return { config: reader.header.config, commands, torn: reader.torn };
}

/**
 * The same for the commands of a journal. A short one that passes is also played with each check
 * alone: what one check reads can hide a fault from another.
 */
export function checkCommands(
  config: ExchangeConfig,
  commands: readonly Command[],
  options: CheckJournalOptions = {},
): Failure | null {
  mustBeConfig('config', config);
  mustBeCommands('commands', commands);
  mustBeOptions(options);
  const { every, checks = CHECK_NAMES, onCommand } = options;
  const intervals = every === undefined ? intervalsOf(commands.length) : { every };
  const play = (names: readonly CheckName[]): Failure | 'holds' | 'stopped' => {
    const engine = options.createEngine?.(config) ?? new Exchange(config);
    const checker = options.checker ?? checkerOf(names, config, intervals);
    const emit = checker.onEvent ?? (() => undefined);
    for (const [i, command] of commands.entries()) {
      const { violation } = applyChecked(engine, command, emit, checker);
      if (violation !== null) return { violation, config, commands: commands.slice(0, i + 1) };
      if (onCommand?.(i + 1) === true) return 'stopped';
    }
    const violation = endChecked(engine, checker);
    return violation === null ? 'holds' : { violation, config, commands };
  };
  let found = play(checks);
  if (options.checker === undefined && checks.length > 1 && commands.length <= SHORT) {
    for (const name of checks) if (found === 'holds') found = play([name]);
  }
  return typeof found === 'string' ? null : found;
}

/** A journal of these commands without checkpoints: inputs only, no results. */
export function journalOf(config: ExchangeConfig, commands: readonly Command[]): Uint8Array {
  mustBeConfig('config', config);
  mustBeCommands('commands', commands);
  const writer = new JournalWriter(config);
  for (const [i, command] of commands.entries()) writer.append(seq(i + 1), command);
  return writer.bytes();
}
