/**
 * Hunters of mutants: each drives the exchange with random commands of every profile until a
 * checker reports a violation. Invariants and oracle are those of the fuzzer; two more hunters
 * compare the exchange with itself.
 */
import type { Command } from '../../src/engine/commands.ts';
import { outcomeCode } from '../../src/engine/refusals.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import type { Engine } from '../../src/engine/read/views.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { allOf, type Checker, type Violation } from '../../src/fuzz/checker.ts';
import { Oracle } from '../../src/oracle/oracle.ts';
import { PROFILE_NAMES, type ProfileName } from '../../src/fuzz/profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { stateInvariants } from '../../src/fuzz/state-checker.ts';
import { streamInvariants } from '../../src/fuzz/stream-checker.ts';
import { timeUs } from '../../src/num/units.ts';
import { allRows } from '../../src/journal/diff/state-rows.ts';

export const HUNTERS = ['invariants', 'oracle', 'restore', 'cut'] as const;
export type Hunter = (typeof HUNTERS)[number];

/** Violation found, and the number of commands of all runs until then. */
export interface Kill {
  readonly hunter: Hunter;
  readonly what: string;
  readonly rule: string;
  readonly detail: string;
  readonly commands: number;
  readonly seed: string;
  readonly profile: string;
}

const COMMANDS_A_RUN = 1500;
/** `crisis` is only for the mutants that name it: a longer turn would leave less for others. */
const IN_TURN = PROFILE_NAMES.filter((name) => name !== 'crisis');

/**
 * Hunts for at most `budget` commands; null if no violation was found. Every second run uses
 * `profile`, the others rotate through those of `IN_TURN`. `onRun` is called after each run.
 * Deterministic for a budget.
 */
export function hunt(
  hunter: Hunter,
  budget: number,
  profile: ProfileName,
  onRun?: () => void,
): Kill | null {
  let spent = 0;
  for (let run = 0; spent < budget; run++) {
    const inTurn = IN_TURN[(run >> 1) % IN_TURN.length] ?? 'swarm';
    const name = run % 2 === 0 ? profile : inTurn;
    const seed = `mutant-${String(run)}`;
    const drawn = drawProfile(seed, { name, commands: Math.min(COMMANDS_A_RUN, budget - spent) });
    // A recording has levels, single orders, or bars; these runs use levels.
    const mix = { ...drawn.mix, single: 0, bar: 0 };
    const { failure, commands } = runFuzz({ ...drawn, mix }, checkerOf(hunter));
    spent += commands;
    onRun?.();
    if (failure !== null) {
      const { invariant, rule, detail } = failure.violation;
      return { hunter, what: invariant, rule, detail, commands: spent, seed, profile: name };
    }
  }
  return null;
}

function checkerOf(hunter: Hunter): Checker {
  switch (hunter) {
    case 'invariants':
      return allOf(streamInvariants(), stateInvariants());
    case 'oracle':
      return againstOracle();
    case 'restore':
      return againstRestored();
    default:
      return againstCut();
  }
}

/** Compares every command with the oracle. */
function againstOracle(): Checker {
  let oracle: Oracle | null = null;
  let received: EngineEvent[] = [];
  return {
    onEvent: (event) => {
      received.push(event);
    },
    after: (engine, command, outcome) => {
      oracle ??= new Oracle(engine.config);
      const expected = oracle.apply(command);
      const events = received;
      received = [];
      const code = outcomeCode(outcome);
      if (expected !== code) {
        return violation('outcome', 'R-2.8', `${command.kind}: ${code}, not ${expected}`);
      }
      const found = oracle.compare(engine, events, oracle.seq % 64 === 0);
      if (found === null) return null;
      return violation(found.what, found.rule, `${found.engine}, not ${found.oracle}`);
    },
  };
}

const RESTORE_EVERY = 150;

/** A restored exchange behaves like the original. */
function againstRestored(): Checker {
  let twin: Engine | null = null;
  return {
    after: (engine, command, outcome) => {
      twin ??= new Exchange(engine.config);
      const other = twin.apply(command);
      if (outcomeCode(other) !== outcomeCode(outcome) || twin.chainHash() !== engine.chainHash()) {
        return violation(
          'restored',
          'docs/DETERMINISM.md',
          `${command.kind}: a restored exchange goes another way`,
        );
      }
      if (engine.seq % RESTORE_EVERY !== 0) return null;
      twin = twin.fork();
      return differing('restored', 'docs/DETERMINISM.md', engine, twin, command);
    },
  };
}

const COMPARE_EVERY = 10;

/** Splitting a time step never changes state. */
function againstCut(): Checker {
  let twin: Engine | null = null;
  return {
    after: (engine, command) => {
      twin ??= new Exchange(engine.config);
      const middle = Math.floor((twin.nowUs + command.timeUs) / 2);
      if (middle > twin.nowUs) twin.apply({ kind: 'advanceTime', timeUs: timeUs(middle) });
      twin.apply(command);
      const compares = engine.seq % COMPARE_EVERY === 0;
      return compares ? differing('cut', 'R-12.1', engine, twin, command) : null;
    },
  };
}

function differing(
  invariant: string,
  rule: string,
  engine: Engine,
  twin: Engine,
  command: Command,
): Violation | null {
  // Without a mark, account figures are undefined.
  if (engine.markets().some(({ markTicks }) => markTicks === null)) return null;
  const rows = allRows(twin);
  for (const [i, { subject, field, value }] of allRows(engine).entries()) {
    const other = rows[i]?.value ?? 'nothing';
    if (value !== other) {
      return violation(
        invariant,
        rule,
        `${command.kind}: ${subject} ${field} ${value}, not ${other}`,
      );
    }
  }
  return null;
}

function violation(invariant: string, rule: string, detail: string): Violation {
  return { invariant, rule, says: '', detail };
}
