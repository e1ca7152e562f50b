/**
 * Failures that depend on the size of a fill: the orders that meet, or the fills themselves, are
 * built again.
 */
import { expect, test } from 'vitest';
import { rebuildFills } from '../../src/fuzz/shrink/rebuild-fills.ts';
import { rebuildOrders } from '../../src/fuzz/shrink/rebuild-orders.ts';
import { lateFailures, neverTester, sizeTester } from './late-failures.ts';

const scripts = lateFailures();

test.each([
  { pass: rebuildOrders, least: 8, why: 'the others need a position' },
  { pass: rebuildFills, least: scripts.length, why: 'a fill of two rich users needs none' },
])('$pass.name shortens at least $least failures: $why', ({ pass, least }) => {
  expect(scripts.length).toBeGreaterThan(8);
  const tester = sizeTester();
  const rebuilt = scripts.map((script) => pass(script, tester));
  for (const one of rebuilt) expect(tester.run(one)?.violation.invariant).toBe('rareSize');
  const short = rebuilt.filter(({ steps }) => steps.length < 30);
  expect(short.length).toBeGreaterThanOrEqual(least);
  // A tester that refuses every script keeps the history.
  const never = neverTester();
  for (const script of scripts) expect(pass(script, never)).toBe(script);
  expect(never.tests).toBeGreaterThan(0);
});
