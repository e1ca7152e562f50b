/** Failures that show late: a pass builds the orders, fills or positions again that they need. */
import { describe, expect, test } from 'vitest';
import { rebuildFills } from '../../src/fuzz/shrink/rebuild-fills.ts';
import { rebuildOrders } from '../../src/fuzz/shrink/rebuild-orders.ts';
import { rebuildPositions } from '../../src/fuzz/shrink/rebuild-positions.ts';
import type { Script } from '../../src/fuzz/shrink/script.ts';
import type { Tester } from '../../src/fuzz/shrink/tester.ts';
import { lateFailures, neverTester, rarePayment, rareSize, testerOf } from './late-failures.ts';

type Pass = (script: Script, tester: Tester) => Script;

/** Number of scripts that the pass shortens; each of its results fails in the same way. */
function shortened(pass: Pass, scripts: readonly Script[], tester: Tester): number {
  const rebuilt = scripts.map((script) => pass(script, tester));
  for (const one of rebuilt) expect(tester.run(one)?.violation.invariant).toBe('rareNumber');
  return rebuilt.filter(({ steps }, i) => steps.length < scripts[i]!.steps.length / 2).length;
}

function expectNoChange(pass: Pass, scripts: readonly Script[]): void {
  const never = neverTester();
  for (const script of scripts) expect(pass(script, never)).toBe(script);
  expect(never.tests).toBeGreaterThan(0);
}

describe('of a size of a fill', () => {
  const scripts = lateFailures(rareSize, 'matching');
  const tester = testerOf(rareSize);

  test('the fills of rich users are enough for nearly all', () => {
    expect(scripts.length).toBeGreaterThan(6);
    expect(shortened(rebuildFills, scripts, tester)).toBeGreaterThan(0.8 * scripts.length);
    expectNoChange(rebuildFills, scripts);
  });

  test('the resting orders are enough for most', () => {
    expect(shortened(rebuildOrders, scripts, tester)).toBeGreaterThan(scripts.length / 2);
    expectNoChange(rebuildOrders, scripts);
  });
});

test('of a payment of funding: the positions are enough for most', () => {
  const scripts = lateFailures(rarePayment, 'money');
  expect(scripts.length).toBeGreaterThan(3);
  const tester = testerOf(rarePayment);
  expect(shortened(rebuildPositions, scripts, tester)).toBeGreaterThan(scripts.length / 2);
  expectNoChange(rebuildPositions, scripts);
});
