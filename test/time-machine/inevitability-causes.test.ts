/**
 * Built runs with a known decisive command: before it the account is far from liquidation, and
 * after it the drift of the market liquidates it soon. In each ten, the method must find nine, at
 * most one command off; two plausible methods that are wrong find fewer.
 */
import { describe, expect, it } from 'vitest';
import { ACTS } from './acts.ts';
import { CAUSES } from './causes.ts';
import { built, found, isRight, lastOwnCommand, type Built } from './planted.ts';

describe.each([
  ['acts of the account and jumps', ACTS],
  ['causes that are no obvious act', CAUSES],
])('%s', (_name, cases) => {
  const all = cases.map(built);

  it('finds the decisive command of at least nine of ten, at most one command off', () => {
    const wrong = all
      .map((run) => ({ run, seq: found(run) }))
      .filter(({ run, seq }) => !isRight(run, seq))
      .map(({ run, seq }) => `${run.name}: ${String(seq)}, not ${String(run.decisive)}`);
    expect(all).toHaveLength(10);
    expect(wrong.length, wrong.join('; ')).toBeLessThanOrEqual(1);
  });

  it.each([
    ['the last command of the account', lastOwnCommand],
    [
      'any future with a liquidation',
      (run: Built) => found(run, { threshold: 0.001, horizon: 400 }),
    ],
  ])('is not as good as %s: that finds fewer than nine', (_method, method) => {
    expect(all.filter((run) => isRight(run, method(run))).length).toBeLessThan(9);
  });
});
