/**
 * Short random runs of isolated positions in lockstep with the oracle: admitted fills, and the
 * money that each moves.
 */
import { expect, test } from 'vitest';
import { drawProfile } from '../../../src/fuzz/draw-profile.ts';
import { oracleLockstep } from '../../../src/fuzz/oracle-checker.ts';
import { runFuzz } from '../../../src/fuzz/fuzz-run.ts';

const SEEDS = ['three', 'four', 'five'];

test.each(SEEDS)('R-5.6 run %s agrees with the oracle', (seed) => {
  const drawn = drawProfile(`isolated ${seed}`, { name: 'stress', commands: 1000 });
  const mix = { ...drawn.mix, order: 200, margin: 40 };
  const prices = { ...drawn.prices, spreadPpm: 50_000 };
  const result = runFuzz({ ...drawn, mix, prices }, oracleLockstep);
  expect(result.failure?.violation ?? null).toBeNull();
});
