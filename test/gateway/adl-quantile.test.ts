/** Reads of positions beside many holders sort them once a second. */
import { expect, test, vi } from 'vitest';
import { encodePosition } from '../../src/gateway/encode.ts';
import { must } from '../../src/base/assert.ts';
import { stateOf } from '../engine/invariants/planted.ts';
import { RiskWorld } from '../engine/risk-world.ts';

/** Rankings of `holders` longs that ten reads make, each after a command and 50 ms. */
function rankings(holders: number): number {
  const world = new RiskWorld([{ symbol: 'M', markSource: 'index' }]);
  world.checks = false;
  world.fund({ zoe: '1000000' });
  world.price('100');
  for (let i = 0; i < holders; i++) {
    world.fund({ [`u${String(i)}`]: '1000' });
    world.trade(`u${String(i)}`, 'zoe', '1', '100');
  }
  const { engine } = world;
  const market = stateOf(engine).market(world.marketOf('M'));
  const listed = vi.spyOn(market.holders, 'of');
  for (let read = 0; read < 10; read++) {
    world.wait(50);
    const position = must(engine.positions(world.idOf('u0'))[0], 'it has one');
    expect(encodePosition(engine, position).adlQuantile).toBe(5);
  }
  return listed.mock.calls.length;
}

test('a hundred holders are ranked for each read after a command', () => {
  expect(rankings(100)).toBe(10);
});

test('more of them are ranked once a second', () => {
  expect(rankings(101)).toBe(1);
});
