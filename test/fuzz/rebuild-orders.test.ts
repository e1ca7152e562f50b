/** Failures that depend on the size of a fill: the orders that meet are built again. */
import { expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import type { Checker, Violation } from '../../src/fuzz/checker.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { runFuzz, type Failure } from '../../src/fuzz/fuzz-run.ts';
import { rebuildOrders } from '../../src/fuzz/shrink/rebuild-orders.ts';
import { toScript } from '../../src/fuzz/shrink/script.ts';
import { Tester } from '../../src/fuzz/shrink/tester.ts';

const VIOLATION: Violation = {
  invariant: 'rareSize',
  rule: 'a test',
  says: 'no fill has this size',
  detail: '',
};

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

/** Runs that fail late, mostly because of orders of two users. */
function lateFailures(): Failure[] {
  return Array.from({ length: 40 }, (_, run) => {
    const profile = drawProfile(`sizes ${String(run)}`, { name: 'matching', commands: 1000 });
    return runFuzz(profile, sizeChecker()).failure;
  }).filter((failure) => failure !== null && failure.commands.length > 300) as Failure[];
}

const createEngine = (config: Failure['config']): Exchange => new Exchange(config);

test('a failure that depends on the size of a fill is rebuilt by the orders that meet', () => {
  const scripts = lateFailures().map((failure) => toScript(failure, createEngine));
  const [script] = scripts;
  if (script === undefined) throw new Error('no run fails late');
  // The planted fault: a tester that refuses every script keeps the history.
  const never = new Tester(VIOLATION, {
    createEngine,
    createChecker: () => ({ after: () => null }),
  });
  expect(rebuildOrders(script, never)).toBe(script);
  expect(never.tests).toBeGreaterThan(0);
  const tester = new Tester(VIOLATION, { createEngine, createChecker: sizeChecker });
  const rebuilt = scripts.map((one) => rebuildOrders(one, tester));
  for (const one of rebuilt) expect(tester.run(one)?.violation.invariant).toBe('rareSize');
  // The others need a position or a trigger.
  const short = rebuilt.filter(({ steps }) => steps.length < 30);
  expect(short.length).toBeGreaterThanOrEqual(5);
});
