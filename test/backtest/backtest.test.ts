import { expect, test } from 'vitest';
import { parseParameters } from '../../src/strategy/definition.ts';
import { runBacktest, type BacktestInput } from '../../src/backtest/run-backtest.ts';
import type { Strategy } from '../../src/strategy/strategy.ts';
import { StrategyFault } from '../../src/strategy/strategy-fault.ts';
import definition from '../../examples/strategies/quotes.ts';
import { constantLatency } from '../../src/virtual-time/latency.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { replay } from '../../src/journal/replay/replay.ts';
import { PRIORITY, Scheduler } from '../../src/virtual-time/scheduler.ts';
import { timeUs } from '../../src/num/units.ts';
import { entryOf, inputOf } from './made-up.ts';

/**
 * The small market maker with quotes close enough to be filled by the trades of the synthetic
 * recording.
 */
const marketMaker = (): Strategy =>
  definition.create(
    parseParameters(definition.parameters, {
      halfSpread: 6,
      skew: 2,
      moveTicks: 2,
    }),
  );

function input(
  strategy: Strategy,
  seconds = 20,
  latency = constantLatency(2000, 3000, 4000),
): BacktestInput {
  return inputOf([entryOf(strategy, { latency })], seconds);
}

test('the same inputs give the same journal, byte for byte, and it replays without the strategy', async () => {
  const first = await runBacktest(input(marketMaker()));
  const second = await runBacktest(input(marketMaker()));
  expect(first.strategies[0]!.summary.fills).toBeGreaterThan(20);
  expect(second.strategies).toEqual(first.strategies);
  expect(second.markets).toEqual(first.markets);
  expect(second.chainHash).toBe(first.chainHash);
  expect(Buffer.from(second.journal).equals(Buffer.from(first.journal))).toBe(true);
  const again = replay(first.journal, { verify: true });
  expect(again.mismatch).toBeNull();
  expect(again.engine.stateHash()).toBe(first.stateHash);
});

test('trading, fees and funding sum to the PnL exactly', async () => {
  const { summary } = (await runBacktest(input(marketMaker()))).strategies[0]!;
  const quantaOf = (text: string): bigint => {
    const [whole = '', fraction = ''] = text.replace('-', '').split('.');
    const size = BigInt(whole + fraction.padEnd(6, '0'));
    return text.startsWith('-') ? -size : size;
  };
  expect(
    quantaOf(summary.pnlTrading) + quantaOf(summary.pnlFees) + quantaOf(summary.pnlFunding),
  ).toBe(quantaOf(summary.pnl));
});

test('latency has three legs, and no update is delivered early', async () => {
  const latency = constantLatency(2000, 3000, 4000, 500);
  const seen: string[] = [];
  let asked = false;
  const strategy: Strategy = {
    onBook(update, context) {
      // Exactly one feed latency old.
      expect(context.now() - update.timeUs).toBe(2000);
      if (asked) return;
      asked = true;
      const sentUs = context.now();
      void context.client.call('getTime', {}).then(({ time }) => {
        seen.push(`there ${time * 1000 - Math.floor((sentUs + 3500) / 1000) * 1000}`);
        seen.push(`back ${context.now() - sentUs}`);
      });
    },
    onTrade(update, context) {
      expect(context.now() - update.timeUs).toBe(2000);
    },
  };
  await runBacktest(input(strategy, 3, latency));
  expect(seen).toEqual(['there 0', 'back 7500']);
});

test('a request reads the exchange at its arrival, not at its response', async () => {
  const prices: string[] = [];
  const strategy: Strategy = {
    async onStart(context) {
      await context.sleep(1_000_000);
      const { bestBid } = await context.client.call('getPrice', { symbol: 'T' });
      prices.push(bestBid?.price ?? 'none');
    },
  };
  await runBacktest(input(strategy, 3, constantLatency(0, 1, 900_000)));
  const late: string[] = [];
  await runBacktest(
    input(
      {
        async onStart(context) {
          await context.sleep(1_000_000);
          const { bestBid } = await context.client.call('getPrice', { symbol: 'T' });
          late.push(bestBid?.price ?? 'none');
        },
      },
      3,
      constantLatency(0, 1, 1),
    ),
  );
  expect(prices).toEqual(late);
});

test('awaiting something outside virtual time stops the run', async () => {
  const strategy: Strategy = {
    onBook: () => new Promise(() => undefined),
  };
  await expect(runBacktest(input(strategy, 2))).rejects.toThrow(
    /^strategy 'test' failed in onBook at \S+ \S+: it awaits something outside virtual time/,
  );
  // A program distinguishes it from a defect.
  await expect(runBacktest(input(strategy, 2))).rejects.toBeInstanceOf(StrategyFault);
});

test.each<readonly [string, Strategy]>([
  [
    'onTimer',
    {
      onStart: (context) => {
        context.setTimer('again', 0);
      },
      onTimer: (name, context) => {
        context.setTimer(name, 0);
      },
    },
  ],
  [
    'sleep',
    {
      async onStart(context) {
        for (;;) await context.sleep(0);
      },
    },
  ],
])('timers without a delay end the run: %s', async (kind, strategy) => {
  await expect(runBacktest(input(strategy, 2))).rejects.toThrow(
    `failed in ${kind} at 2024-01-01 00:00:00.5`,
  );
});

test('an error of a strategy ends the run with that error', async () => {
  const strategy: Strategy = {
    async onBook() {
      await Promise.resolve();
      throw new Error('no such indicator');
    },
  };
  await expect(runBacktest(input(strategy, 2))).rejects.toThrow('no such indicator');
});

test('entries run by time, then priority, then order of scheduling', () => {
  const scheduler = new Scheduler(timeUs(0));
  const ran: string[] = [];
  const add = (
    name: string,
    us: number,
    priority: (typeof PRIORITY)[keyof typeof PRIORITY],
  ): void => {
    scheduler.at(timeUs(us), priority, () => ran.push(name));
  };
  add('timer', 5, PRIORITY.timer);
  add('second delivery', 5, PRIORITY.delivery);
  add('third delivery', 5, PRIORITY.delivery);
  add('order', 5, PRIORITY.order);
  add('first', 1, PRIORITY.timer);
  while (scheduler.runNext());
  expect(ran).toEqual(['first', 'order', 'second delivery', 'third delivery', 'timer']);
  expect(() => {
    scheduler.at(timeUs(4), PRIORITY.order, () => undefined);
  }).toThrow(/past/);
});

test('random streams are independent, and continue after a restore', () => {
  const draws = (streams: RandomStreams, name: string): number[] => {
    const stream = streams.stream(name);
    return [stream.next(), stream.next(), stream.next()];
  };
  const alone = draws(new RandomStreams('s'), 'a');
  const together = new RandomStreams('s');
  draws(together, 'b');
  expect(draws(together, 'a')).toEqual(alone);
  expect(draws(new RandomStreams('s'), 'b')).not.toEqual(alone);
  const saved = JSON.parse(JSON.stringify(together.save())) as ReturnType<RandomStreams['save']>;
  expect(draws(new RandomStreams('other', saved), 'a')).toEqual(draws(together, 'a'));
});
