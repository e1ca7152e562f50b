/** The table of transitions of orders as a graph. */
import { expect, test } from 'vitest';
import { TRANSITIONS } from '../../../src/engine/orders/states.ts';

const next = (from: string): string[] =>
  TRANSITIONS.filter((transition) => transition.from === from).map(({ to }) => to);

test('ended orders change no more, and every status leads to an end', () => {
  for (const ended of ['filled', 'cancelled', 'expired', 'rejected'])
    expect(next(ended)).toEqual([]);
  for (const live of ['new', 'pending', 'partiallyFilled']) {
    expect(next(live)).toEqual(expect.arrayContaining(['cancelled', 'expired']));
  }
  expect(next('none')).toEqual(['new', 'rejected']);
});

test('each transition is listed once, with a reason', () => {
  const pairs = TRANSITIONS.map(({ from, to }) => `${from} ${to}`);
  expect(new Set(pairs).size).toBe(pairs.length);
  expect(TRANSITIONS.every(({ why }) => why.length > 0)).toBe(true);
});
