/** Runs that fail late, at a fill of a rare size. */
import { Exchange } from '../../src/engine/exchange.ts';
import type { Checker, Violation } from '../../src/fuzz/checker.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz, type Failure } from '../../src/fuzz/fuzz-run.ts';
import { toScript, type Script } from '../../src/fuzz/shrink/script.ts';
import { Tester } from '../../src/fuzz/shrink/tester.ts';

const VIOLATION: Violation = {
  invariant: 'rareSize',
  rule: 'a test',
  says: 'no fill has this size',
  detail: '',
};

export const createEngine = (config: Failure['config']): Exchange => new Exchange(config);

/** A check that refuses one size of 97. */
function sizeChecker(): Checker {
  let isRare = false;
  return {
    onEvent: (event) => {
      if (event.kind === 'tradePrinted' && Math.abs(event.lots) % 97 === 13) isRare = true;
    },
    after: () => (isRare ? VIOLATION : null),
  };
}

export function lateFailures(): Script[] {
  return Array.from({ length: 40 }, (_, run) => {
    const profile = drawProfile(`sizes ${String(run)}`, { name: 'matching', commands: 1000 });
    const { failure } = runFuzz(profile, sizeChecker());
    return failure !== null && failure.commands.length > 300
      ? [toScript(failure, createEngine)]
      : [];
  }).flat();
}

export const sizeTester = (): Tester =>
  new Tester(VIOLATION, { createEngine, createChecker: sizeChecker });

/** The planted fault: no script fails again. */
export const neverTester = (): Tester =>
  new Tester(VIOLATION, { createEngine, createChecker: () => ({ after: () => null }) });
