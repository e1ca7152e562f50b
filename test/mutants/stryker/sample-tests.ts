/** Tests that `test-files-process.test.ts` runs without vitest's processes. */
import { beforeEach, describe, expect, test } from 'vitest';

let prepared = 0;
beforeEach(() => {
  prepared += 1;
});

test('passes', () => {
  expect(prepared).toBe(1);
});

describe('group', () => {
  test.each([1, 2])('has %i', (n) => {
    expect({ n, prepared }).toEqual({ n, prepared: n + 1 });
  });

  test('fails', () => {
    expect(prepared).toBe(0);
  });

  test('is last', async () => {
    await expect(Promise.resolve(prepared)).resolves.toBe(5);
  });
});
