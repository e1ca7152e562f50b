/** Counts the steps of an evaluation, so that no expression stops the time machine. */
import { ExpressionError } from './expression-error.ts';
import { workOf, type Rational } from './rational.ts';
import type { Scope, Value } from './values.ts';

export const MAX_STEPS = 500_000;

/** An evaluation. */
export interface Run {
  readonly scope: Scope;
  readonly locals: Value[];
  steps: number;
}

/** Throws `ExpressionError` beyond the limit. */
export function take(run: Run, steps: number, at: number): void {
  run.steps += steps;
  if (run.steps <= MAX_STEPS) return;
  throw new ExpressionError(at, `takes more than ${String(MAX_STEPS)} steps for one command`);
}

/** The result of an operation. One of many digits counts as many steps. */
export function counted(run: Run, result: Rational, at: number): Rational {
  take(run, workOf(result), at);
  return result;
}
