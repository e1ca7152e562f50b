/**
 * Two markets priced only by users, X and Y. Pat is long both, Quinn short X, Rob short Y. In one
 * second their friends quote X up and Y down by 90 %. Quinn's deficit was charged to Pat, whose
 * gain in X equalled the loss in Y, so Pat had no equity to charge. The shortfall paid 16,500 and
 * Rob kept the gain in Y, on deposits of 22,000.
 *
 * Now each mark moves in its own step: Pat pays the gain in X before Y moves, then Rob the
 * gain in Y.
 */
import { afterAll, expect, test } from 'vitest';
import { dollars } from '../engine/risk-world.ts';
import { coalition, takeOut } from './coalition.ts';
import { AttackWorld, expectOracleAgrees } from './world.ts';

afterAll(expectOracleAgrees);

const OWN = { markSource: 'mid', indexSource: 'mid', initialMark: '1000' };
const ALL = ['pat', 'quinn', 'rob', 'eve', 'ed'];

test.each([
  ['1900', '100'],
  ['100', '1900'],
])('X moves to %s and Y to %s in one second: won 16,500, now nothing', (x, y) => {
  const world = new AttackWorld([
    { symbol: 'X', ...OWN },
    { symbol: 'Y', ...OWN },
  ]);
  world.deposit('insurance', '100000');
  world.fund({ hal: '1000000', pat: '1000', quinn: '500', rob: '500', eve: '10000', ed: '10000' });
  const side = x === '1900' ? '' : '-';
  world.trade('pat', 'quinn', `${side}20`, '1000', 'X');
  world.trade('pat', 'rob', `${side}20`, '1000', 'Y');
  for (const [symbol, price] of [
    ['X', x],
    ['Y', y],
  ] as const) {
    world.quote('eve', 'ed', '0.0001', `${String(Number(price) - 1)}.9`, `${price}.1`, symbol);
  }
  world.wait(1000);
  expect([world.markOf('X'), world.markOf('Y')]).toEqual([Number(x), Number(y)]);
  for (const who of ALL) world.cancelAll(who);
  takeOut(world, ALL);
  expect(dollars(coalition(world, ALL).profit)).toBe('0');
  expect([world.shortfall(), world.balance('insurance')]).toEqual(['0', '100000']);
});
