import { expect, test } from 'vitest';
import { growthPercent } from '../../src/platform/lean-heap.ts';

const MIB = 2 ** 20;

test('a small heap may collect 64 MiB of garbage', () => {
  expect(growthPercent(32 * MIB)).toBe(200);
  expect(growthPercent(64 * MIB)).toBe(100);
  for (let live = 16 * MIB; live <= 320 * MIB; live += MIB) {
    expect((live * growthPercent(live)) / 100 / MIB).toBeCloseTo(64, -1);
  }
});

test('a large heap grows by a fifth, and an empty one by a bounded factor', () => {
  expect(growthPercent(320 * MIB)).toBe(20);
  expect(growthPercent(16 * 1024 * MIB)).toBe(20);
  expect(growthPercent(MIB)).toBe(400);
  expect(growthPercent(0)).toBe(400);
});
