/** Checks a journal against every invariant, for regressions and for a user's own runs. */
import { Exchange } from '../engine/exchange.ts';
import type { Command } from '../engine/commands.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import type { Engine } from '../engine/read/views.ts';
import { JournalReader, JournalWriter } from '../journal/format/frames.ts';
import { seq } from '../num/units.ts';
import { allOf, type Checker } from './checker.ts';
import { applyChecked, type Failure } from './fuzz-run.ts';
import { stateInvariants } from './state-checker.ts';
import { streamInvariants } from './stream-checker.ts';

export interface CheckJournalOptions {
  /** Commands between full scans; default 1. */
  readonly every?: number;
  /** Default: all invariants. */
  readonly checker?: Checker;
  readonly createEngine?: (config: ExchangeConfig) => Engine;
  /** Called after each command; true stops the check. */
  readonly onCommand?: (applied: number) => boolean;
}

/** All invariants of state and stream. */
export const allInvariants = (every = 1): Checker =>
  allOf(stateInvariants(every), streamInvariants(every));

/** The first violation with its commands; null if none. Throws `JournalError`. */
export function checkJournal(bytes: Uint8Array, options: CheckJournalOptions = {}): Failure | null {
  const reader = new JournalReader(bytes);
  const { config } = reader.header;
  const engine = options.createEngine?.(config) ?? new Exchange(config);
  const checker = options.checker ?? allInvariants(options.every);
  const emit = checker.onEvent ?? (() => undefined);
  const commands: Command[] = [];
  for (;;) {
    const frame = reader.next();
    if (frame === null) break;
    if (frame.kind !== 'command') continue;
    commands.push(frame.command);
    const { violation } = applyChecked(engine, frame.command, emit, checker);
    if (violation !== null) return { violation, config, commands };
    if (options.onCommand?.(commands.length) === true) return null;
  }
  const violation = checker.end?.(engine) ?? null;
  return violation === null ? null : { violation, config, commands };
}

/** A journal of these commands without checkpoints: inputs only, no results. */
export function journalOf(config: ExchangeConfig, commands: readonly Command[]): Uint8Array {
  const writer = new JournalWriter(config);
  for (const [i, command] of commands.entries()) writer.append(seq(i + 1), command);
  return writer.bytes();
}
