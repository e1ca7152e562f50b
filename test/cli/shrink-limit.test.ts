/** A shrink whose execution does not end is ended with its thread. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FuzzPool } from '../../src/cli/fuzz/pool.ts';

const ends = vi.hoisted(() => ({ stops: (): number => 0, cancelled: 0 }));
vi.mock('workerpool', () => ({
  default: {
    pool: () => ({
      exec: (_name: string, [task]: [{ signals: Int32Array }]) => {
        ends.stops = () => task.signals[0] ?? 0;
        let reject = (_: Error): void => undefined;
        const running = new Promise((_, no) => (reject = no));
        const cancel = (): void => {
          ends.cancelled += 1;
          reject(new Error('promise cancelled'));
        };
        return Object.assign(running, { cancel });
      },
    }),
  },
}));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('an execution has ten seconds after the limit', async () => {
  let isOver = false;
  const watch = { onProgress: () => undefined, onBest: () => undefined, isOver: () => isOver };
  const shrinking = new FuzzPool(1).shrinkFailure({} as never, [], watch);
  const failed = expect(shrinking).rejects.toThrow('an execution goes on beyond the limit');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ends.stops()).toBe(0);
  isOver = true;
  await vi.advanceTimersByTimeAsync(9_000);
  expect([ends.stops(), ends.cancelled]).toEqual([1, 0]);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(ends.cancelled).toBe(1);
  await failed;
});
