/**
 * Shrinks a failure: the shortest script, and the plainest numbers, that still break the same invariant. Coarse passes first (kinds, markets,
 * accounts, chunks), then what each command carries, then everything again until nothing changes.
 */
import type { Violation } from '../checker.ts';
import type { Failure } from '../fuzz-run.ts';
import { dropAccounts, dropChunks, dropKinds, dropMarkets, dropParts } from './drop.ts';
import { toScript, type Script } from './script.ts';
import {
  collapseTime,
  defaultParameters,
  mergeAccounts,
  mergeSubaccounts,
  simplifySteps,
} from './simplify.ts';
import { Tester, type TestOptions } from './tester.ts';

export interface ShrinkOptions extends TestOptions {
  /** After each pass: steps left and executions so far. */
  readonly onProgress?: (steps: number, tests: number) => void;
}

export interface Shrunk {
  readonly script: Script;
  /** What the shrunk script breaks, with its own numbers. */
  readonly violation: Violation;
  /** Commands before and after. */
  readonly from: number;
  readonly to: number;
  /** Executions that it took. */
  readonly tests: number;
  /** False when it was cancelled before nothing more could be left out. */
  readonly complete: boolean;
}

type Pass = (script: Script, tester: Tester) => Script;

const COARSE: readonly Pass[] = [dropKinds, dropMarkets, dropAccounts, dropChunks];
const FINE: readonly Pass[] = [
  dropParts,
  mergeAccounts,
  mergeSubaccounts,
  defaultParameters,
  collapseTime,
  simplifySteps,
  dropChunks,
];
/** Rounds of fine passes, at most: each makes the script plainer, so few are ever needed. */
const MOST_ROUNDS = 8;

/** Throws when the commands do not fail again: then the engine or the judge is not deterministic. */
export function shrink(failure: Failure, options: ShrinkOptions): Shrunk {
  const tester = new Tester(failure.violation, options);
  const recorded = toScript(failure, options.createEngine);
  const first = tester.failing(recorded);
  if (first === null) {
    throw new Error(`the failure does not come again: ${failure.violation.invariant}`);
  }
  const run = (script: Script, passes: readonly Pass[]): Script => {
    let current = script;
    for (const pass of passes) {
      if (tester.cancelled) break;
      current = pass(current, tester);
      options.onProgress?.(current.steps.length, tester.tests);
    }
    return current;
  };
  let script = run(first, COARSE);
  for (let round = 0; round < MOST_ROUNDS && !tester.cancelled; round += 1) {
    const before = script;
    script = run(script, FINE);
    if (script === before) break;
  }
  return {
    script,
    violation: tester.run(script)?.violation ?? failure.violation,
    from: failure.commands.length,
    to: script.steps.length,
    tests: tester.tests,
    complete: !tester.cancelled,
  };
}
