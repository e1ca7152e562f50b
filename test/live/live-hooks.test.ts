/** Hooks that a server has no feed for are refused at the start, with the reason. */
import { expect, test } from 'vitest';
import { createdLive, mustRunLive } from '../../src/live/live-hooks.ts';
import { defineStrategy } from '../../src/strategy/definition.ts';
import type { Strategy } from '../../src/strategy/strategy.ts';

const definition = { name: 'mine' };
const nothing = (): void => undefined;
const MISSPELT = { onBars: nothing } as unknown as Strategy;

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

test.each([
  ['wall', (warn: (text: string) => void) => mustRunLive(definition, MISSPELT, 'wall', warn), ''],
  [
    'replay',
    (warn: (text: string) => void) =>
      createdLive(
        defineStrategy({ name: 'mine', parameters: {}, create: () => MISSPELT }),
        {},
        warn,
      ),
    'WARNING: ',
  ],
])('on the clock %s, a misspelt handler is a warning', (_clock, create, prefix) => {
  const warnings: string[] = [];
  create((text) => warnings.push(text));
  expect(warnings).toEqual([
    `${prefix}mine has a method onBars, which no update calls; did you mean onBar?`,
  ]);
});
