/** Hooks that a server has no feed for are refused at the start, with the reason. */
import { expect, test } from 'vitest';
import { mustRunLive } from '../../src/live/live-hooks.ts';
import type { Strategy } from '../../src/strategy/strategy.ts';

const definition = { name: 'mine' };
const nothing = (): void => undefined;

test.each([
  ['wall', 'onData', 'mine: onData is not called live: rows of data'],
  ['wall', 'onLiquidation', 'without their account'],
  ['wall', 'onAccount', 'ask `client` for getStats'],
  ['replay', 'onMark', 'no exact time of marks'],
  ['replay', 'onIndex', 'no exact time of marks'],
] as const)('on the clock %s, %s is refused', (clock, handler, message) => {
  const strategy: Strategy = { [handler]: nothing };
  expect(() => {
    mustRunLive(definition, strategy, clock);
  }).toThrow(message);
});

test('a kept equity is refused, marks in real time are not', () => {
  expect(() => {
    mustRunLive({ ...definition, keeps: { equity: true } }, {}, 'wall');
  }).toThrow('equity() works in backtests only');
  mustRunLive(definition, { onMark: nothing, onIndex: nothing, onBook: nothing }, 'wall');
  mustRunLive({ ...definition, keeps: { bars: 5, book: true } }, { onBook: nothing }, 'replay');
});
