/** An interrupt gives a run two seconds to find a point from which it can be resumed. */
import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => {
  vi.restoreAllMocks();
});

test('the two seconds begin when the run polls the interrupt, not while it loads', async () => {
  vi.resetModules();
  const support = await import('../../src/cli/cli-support.ts');
  const now = vi.spyOn(performance, 'now').mockReturnValue(1000);
  support.watchInterrupt();
  try {
    process.emit('SIGINT');
    now.mockReturnValue(60_000);
    expect(support.isInterruptOld()).toBe(false);
    expect(support.isInterrupted()).toBe(true);
    expect(support.isInterruptOld()).toBe(false);
    now.mockReturnValue(61_900);
    expect(support.isInterrupted()).toBe(true);
    expect(support.isInterruptOld()).toBe(false);
    now.mockReturnValue(62_100);
    expect(support.isInterruptOld()).toBe(true);
  } finally {
    support.letSignalsEnd(true);
  }
});
