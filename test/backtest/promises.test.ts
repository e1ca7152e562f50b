/**
 * Continuations of promises run at the virtual time of the awaited reply, for any number of
 * promises between.
 */
import { expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/run-backtest.ts';
import type { Strategy, StrategyContext } from '../../src/strategy/strategy.ts';
import { constantLatency } from '../../src/virtual-time/latency.ts';
import { entryOf, inputOf } from './made-up.ts';

const LATENCY = constantLatency(2000, 3000, 4000, 500);
const DEPTHS = [0, 1, 2, 3, 7, 40];

async function deep(awaits: number): Promise<void> {
  for (let i = 0; i < awaits; i++) await Promise.resolve();
}

/** Virtual time from the first delivered trade until the strategy reports completion. */
async function elapsed(
  strategyOf: (note: (context: StrategyContext) => void) => Strategy,
): Promise<number> {
  let receivedUs = -1;
  let doneUs = -1;
  const inner = strategyOf((context) => {
    if (doneUs < 0) doneUs = context.now();
  });
  const strategy: Strategy = {
    onTrade(update, context) {
      if (receivedUs >= 0) return undefined;
      receivedUs = context.now();
      return inner.onTrade?.(update, context);
    },
  };
  await runBacktest(inputOf([entryOf(strategy, { latency: LATENCY })], 3));
  expect(receivedUs).toBeGreaterThan(0);
  return doneUs - receivedUs;
}

test.each(DEPTHS)(
  'a chain of %i promises that are not awaited takes no virtual time',
  async (awaits) => {
    const us = await elapsed((note) => ({
      onTrade(_update, context) {
        void deep(awaits).then(() => {
          note(context);
        });
      },
    }));
    expect(us).toBe(0);
  },
);

test.each(DEPTHS)('a request behind %i promises arrives as if sent immediately', async (awaits) => {
  const us = await elapsed((note) => ({
    onTrade(_update, context) {
      void deep(awaits)
        .then(() => context.client.call('getTime', {}))
        .then(() => deep(awaits))
        .then(() => {
          note(context);
        });
    },
  }));
  expect(us).toBe(7500);
});

test.each(DEPTHS)(
  'a handler continues at the time another resolves its promise, %i deep',
  async (awaits) => {
    let release = (): void => undefined;
    let releasedUs = -1;
    let wentOnUs = -1;
    const strategy: Strategy = {
      onStart(context) {
        const released = new Promise<void>((resolve) => {
          release = resolve;
        });
        void released
          .then(() => deep(awaits))
          .then(() => {
            wentOnUs = context.now();
          });
      },
      onTrade(_update, context) {
        if (releasedUs < 0) releasedUs = context.now();
        release();
      },
    };
    await runBacktest(inputOf([entryOf(strategy, { latency: LATENCY })], 3));
    expect(releasedUs).toBeGreaterThan(0);
    expect(wentOnUs).toBe(releasedUs);
  },
);

test('a strategy without promises causes no event-loop turns', async () => {
  let received = 0;
  let turns = 0;
  const receive = (): void => {
    received += 1;
  };
  const strategy: Strategy = {
    onStart: receive,
    onBook: receive,
    onTrade: receive,
    onStop: receive,
  };
  const input = inputOf([entryOf(strategy)], 5);
  await runBacktest({
    ...input,
    promises: {
      count: input.promises.count,
      drain: async () => {
        turns += 1;
        await input.promises.drain();
      },
    },
  });
  expect(received).toBeGreaterThan(80);
  expect(turns).toBe(0);
});

test('a rejection of something else before a run does not fail it', async () => {
  const reported = new Promise((resolve) => process.once('unhandledRejection', resolve));
  void Promise.reject(new Error('of another test'));
  await reported;
  await runBacktest(inputOf([entryOf({ onTrade: () => Promise.resolve() })], 3));
});

test('an error behind a promise of a handler ends the run at its time', async () => {
  const strategy: Strategy = {
    async onTrade() {
      await deep(20);
      throw new Error('deep down');
    },
  };
  await expect(runBacktest(inputOf([entryOf(strategy)], 3))).rejects.toThrow('deep down');
});

test.each([
  [{ code: 1 }, 'it threw { code: 1 }, which is not an Error'],
  ['late', 'it threw "late", which is not an Error'],
  [null, 'it threw null, which is not an Error'],
  [undefined, 'it threw undefined, which is not an Error'],
  [
    new Error('no route', { cause: new TypeError('no host') }),
    'no route (cause: TypeError: no host)',
  ],
])('an object of this program that throws %j', async (thrown, text) => {
  const throwing: Strategy = {
    onStart: () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error
      throw thrown;
    },
  };
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
  const rejecting: Strategy = { onTrade: () => Promise.reject(thrown) };
  const lost: Strategy = {
    onStart: () => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
      void Promise.reject(thrown);
    },
  };
  for (const strategy of [throwing, rejecting, lost]) {
    await expect(runBacktest(inputOf([entryOf(strategy)], 3))).rejects.toThrow(text);
  }
});

test('a run without promises lets the event loop turn between batches when it is overdue', async () => {
  const input = inputOf([entryOf({})], 5);
  const turnedAt: number[] = [];
  let played = 0;
  await runBacktest({
    ...input,
    onProgress: () => {
      played += 1;
    },
    promises: {
      count: input.promises.count,
      drain: async () => {
        turnedAt.push(played);
        await input.promises.drain();
      },
      // After the start nothing else asks, since this strategy has no handlers.
      overdue: () => played > 0 && played % 2 === 0,
    },
  });
  expect(played).toBe(7);
  expect(turnedAt).toEqual([2, 4, 6]);
});
