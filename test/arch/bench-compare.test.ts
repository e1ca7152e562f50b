import { expect, test } from 'vitest';
import { changesOf, type Recorded } from '../bench/compare.ts';

const recorded = (perCpuSecond: number, spread: number): Recorded => ({
  node: 'v20',
  processor: 'a',
  isPinned: true,
  rows: [{ name: 'engine', perSecond: 1, perCpuSecond, spread }],
});

test.each([
  [1000, 0.02, 1000, 0.02, false],
  [1000, 0.02, 970, 0.02, false],
  [1000, 0.02, 955, 0.02, true],
  [1000, 0.2, 900, 0.02, false],
  [1000, 0.02, 860, 0.2, true],
  [1000, 0.02, 2000, 0.02, false],
])('a rate of %i ± %f and then %i ± %f: slower is %s', (old, spread, now, later, isSlower) => {
  expect(changesOf(recorded(old, spread), recorded(now, later)).isSlower).toBe(isSlower);
});
