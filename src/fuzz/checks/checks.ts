/**
 * The checks of a run by name. A failure names the check that found it; its reproduction runs
 * exactly these checks.
 */
import type { ExchangeConfig } from '../../engine/config.ts';
import { allOf, type Checker, type Violation } from '../checker.ts';
import { FuzzError, mustBeInterval, mustBeOneOf, mustHave } from '../fuzz-error.ts';
import { thrownByCheck } from '../thrown.ts';
import { oracleLockstep } from '../oracle-checker.ts';
import { stateInvariants } from '../state-checker.ts';
import { streamInvariants } from '../stream-checker.ts';
import { feedCheck } from './feed-check.ts';
import { gatewayCheck } from './gateway-check.ts';
import { hashCheck } from './hash-check.ts';
import { historyCheck } from './history-check.ts';
import { journalCheck } from './journal-check.ts';
import { restoreCheck } from './restore-check.ts';
import { timeCheck } from './time-check.ts';

/** Description of each check. */
export const CHECKS = {
  state: 'the invariants of the state',
  stream: 'the invariants of the event stream',
  oracle: 'outcome, events and state of each command with the oracle',
  restore: 'the exchange with a twin that is saved and restored',
  time: 'the exchange with a twin whose steps of time have parts',
  hash: 'hashes with all input and state that they must depend on',
  journal: 'commands with their bytes, and a torn journal with its recovery',
  gateway: 'requests with their commands, and replies with the state',
  feeds: 'what a subscriber of every feed knows with the state',
} as const satisfies Record<string, string>;

export type CheckName = keyof typeof CHECKS;

export const CHECK_NAMES = Object.keys(CHECKS) as readonly CheckName[];

/** Intervals of the expensive parts of the checks, in commands. */
export interface CheckIntervals {
  /** Full scans and comparisons of state; `Infinity`: only at the end. */
  readonly every: number;
  /** Snapshots, recoveries and reads of lists; default: eight times `every`. */
  readonly rarely?: number;
}

/**
 * Runs these checks in the order of `CHECKS`; the first violation ends the run. `config` is that of
 * the exchange. Throws `FuzzError`.
 */
export function checkerOf(
  names: readonly CheckName[],
  config: ExchangeConfig,
  intervals: CheckIntervals,
): Checker {
  if (!Array.isArray(names) || names.length === 0) {
    throw new FuzzError(`checks: must be a list of ${CHECK_NAMES.join(', ')}`, { field: 'checks' });
  }
  for (const name of names) mustBeOneOf('checks', name, CHECK_NAMES);
  mustHave('config', config, ['genesisTimeUs']);
  mustHave('intervals', intervals, ['every']);
  mustBeInterval('every', intervals.every);
  if (intervals.rarely !== undefined) mustBeInterval('rarely', intervals.rarely);
  const checkers = CHECK_NAMES.filter((name) => names.includes(name)).map((name) =>
    named(name, CHECKERS[name](config, intervals)),
  );
  return allOf(...checkers);
}

/** Adds the name of the check to what it finds; its exceptions are violations. */
function named(check: CheckName, checker: Checker): Checker {
  const tagged = (find: () => Violation | null): Violation | null => {
    let found: Violation | null;
    try {
      found = find();
    } catch (error) {
      found = thrownByCheck(error);
    }
    return found === null ? null : { ...found, check };
  };
  return {
    ...checker,
    after: (engine, command, outcome) => tagged(() => checker.after(engine, command, outcome)),
    end: (engine) => tagged(() => checker.end?.(engine) ?? null),
  };
}

/** Commands between two comparisons of changed state with the oracle in a long run. */
const STATE_EVERY = 8;

const rarelyOf = ({ every, rarely }: CheckIntervals): number =>
  rarely ?? (every === 1 ? 1 : every * 8);

const CHECKERS: Readonly<
  Record<CheckName, (config: ExchangeConfig, intervals: CheckIntervals) => Checker>
> = {
  state: (_config, { every }) => stateInvariants(every),
  stream: (_config, { every }) => streamInvariants(every),
  oracle: (config, { every }) =>
    oracleLockstep(config, every === 1 ? { fullEvery: 1 } : { stateEvery: STATE_EVERY }),
  restore: (config, { every }) => restoreCheck(config, { every }),
  time: (config, { every }) => timeCheck(config, every),
  hash: (_config, intervals) => hashCheck(rarelyOf(intervals)),
  journal: (config, intervals) => journalCheck(config, rarelyOf(intervals)),
  gateway: (_config, intervals) =>
    allOf(gatewayCheck(rarelyOf(intervals)), historyCheck(rarelyOf(intervals))),
  feeds: (_config, { every }) => feedCheck(every),
};
