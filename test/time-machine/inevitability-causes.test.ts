/**
 * Ten more built runs. The method must find the cause of nine, at most one command off; two
 * plausible methods that are wrong find fewer.
 */
import { expect, it } from 'vitest';
import { CASES } from './causes.ts';
import { built, found, isRight, lastOwnCommand, type Built } from './planted.ts';

const ALL = CASES.map(built);

it('finds the decisive command of at least nine of ten runs, at most one command off', () => {
  const wrong = ALL.map((run) => ({ run, seq: found(run) }))
    .filter(({ run, seq }) => !isRight(run, seq))
    .map(({ run, seq }) => `${run.name}: ${String(seq)}, not ${String(run.decisive)}`);
  expect(wrong.length, wrong.join('; ')).toBeLessThanOrEqual(1);
});

it.each([
  ['the last command of the account', lastOwnCommand],
  ['any future with a liquidation', (run: Built) => found(run, { threshold: 0.001, horizon: 400 })],
])('is not as good as %s: that finds fewer than nine', (_name, method) => {
  expect(ALL.filter((run) => isRight(run, method(run))).length).toBeLessThan(9);
});
