/**
 * Shrinks a failure to the shortest script with the simplest values that violates the same
 * invariant. Coarse passes come first: waits, ends, rebuilt orders, fills, units and positions,
 * then kinds, markets, accounts and chunks. Then come the fields of each command; passes repeat
 * until nothing changes.
 */
import type { Violation } from '../checker.ts';
import {
  mustBeCommands,
  mustBeConfig,
  mustBeFunction,
  mustBeViolation,
  mustHave,
} from '../fuzz-error.ts';
import type { Failure } from '../fuzz-run.ts';
import { dropAccounts, dropChunks, dropKinds, dropMarkets, dropParts, keepEnds } from './drop.ts';
import { joinSizes } from './join-sizes.ts';
import { rebuildFills } from './rebuild-fills.ts';
import { rebuildOrders } from './rebuild-orders.ts';
import { rebuildPositions } from './rebuild-positions.ts';
import { rebuildUnits } from './rebuild.ts';
import { toScript, type Script } from './script.ts';
import {
  collapseTime,
  defaultParameters,
  mergeAccounts,
  mergeSubaccounts,
  shortenWaits,
  simplifySteps,
} from './simplify.ts';
import { Tester, type TestOptions } from './tester.ts';

export interface ShrinkOptions extends TestOptions {
  /** Called after each pass with remaining steps and executions so far. */
  readonly onProgress?: (steps: number, tests: number) => void;
  /** Called with the result so far, after passes that made it shorter. */
  readonly onBest?: (best: Shrunk) => void;
}

export interface Shrunk {
  readonly script: Script;
  /** Violation of the shrunk script, with its own numbers. */
  readonly violation: Violation;
  /** Number of commands before and after. */
  readonly from: number;
  readonly to: number;
  /** Number of executions. */
  readonly tests: number;
  /** False if it was cancelled before a minimum was reached. */
  readonly complete: boolean;
}

type Pass = (script: Script, tester: Tester) => Script;

/** Reads of an exchange with a defect may throw: the script is then left as it is. */
const ifReadable =
  (pass: Pass): Pass =>
  (script, tester) => {
    try {
      return pass(script, tester);
    } catch {
      return script;
    }
  };

const COARSE: readonly Pass[] = [
  shortenWaits,
  keepEnds,
  ifReadable(rebuildOrders),
  ifReadable(rebuildFills),
  ifReadable(rebuildUnits),
  ifReadable(rebuildPositions),
  dropKinds,
  dropMarkets,
  dropAccounts,
  dropChunks,
];
const FINE: readonly Pass[] = [
  ifReadable(rebuildUnits),
  dropParts,
  joinSizes,
  mergeAccounts,
  mergeSubaccounts,
  defaultParameters,
  collapseTime,
  simplifySteps,
  dropChunks,
];
/** Max rounds of fine passes; few are ever needed. */
const MAX_ROUNDS = 8;

/**
 * Throws if the commands do not fail again: the engine or the checker is then not deterministic.
 * Throws `FuzzError` for other arguments.
 */
export function shrink(failure: Failure, options: ShrinkOptions): Shrunk {
  mustHave('failure', failure, ['violation', 'config', 'commands']);
  mustBeViolation('violation', failure.violation);
  mustBeConfig('config', failure.config);
  mustBeCommands('commands', failure.commands);
  mustHave('options', options, ['createEngine', 'createChecker']);
  mustBeFunction('createEngine', options.createEngine);
  mustBeFunction('createChecker', options.createChecker);
  const recorded = toScript(failure, options.createEngine);
  // Checked after each command, the defect may show earlier, by another difference.
  const repeated = new Tester(failure.violation, options).runAny(recorded);
  if (repeated === null) {
    throw new Error(`the failure is not reproducible: ${failure.violation.invariant}`);
  }
  const tester = new Tester(repeated.violation, options);
  const first = tester.upTo(recorded, repeated);
  const resultOf = (script: Script, complete: boolean): Shrunk => ({
    script,
    violation: tester.violationOf(script),
    from: failure.commands.length,
    to: script.steps.length,
    tests: tester.tests,
    complete,
  });
  let least = first.steps.length;
  const run = (script: Script, passes: readonly Pass[]): Script => {
    let current = script;
    for (const pass of passes) {
      if (tester.cancelled) break;
      current = pass(current, tester);
      options.onProgress?.(current.steps.length, tester.tests);
      if (current.steps.length >= least) continue;
      least = current.steps.length;
      options.onBest?.(resultOf(current, false));
    }
    return current;
  };
  let script = run(first, COARSE);
  for (let round = 0; round < MAX_ROUNDS && !tester.cancelled; round += 1) {
    const before = script;
    script = run(script, FINE);
    if (script === before) break;
  }
  return resultOf(script, !tester.cancelled);
}
