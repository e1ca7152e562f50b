/** Bars arrive with the recorded latency of their trades. */
import { expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/run-backtest.ts';
import { BarBuilder } from '../../src/strategy/bars.ts';
import type { Strategy } from '../../src/strategy/strategy.ts';
import { recordedLatency } from '../../src/virtual-time/latency.ts';
import { entryOf, inputOf, madeUpTape } from './made-up.ts';

const SECOND_US = 1_000_000;
const latency = (): ReturnType<typeof recordedLatency> =>
  recordedLatency({ offsetUs: 0, minUs: 1000, entryFactor: 1, responseFactor: 1, computeUs: 0 });

/** Trades are received 40 ms after they happened, changes of the book after 5 ms. */
async function run(strategy: Strategy): Promise<void> {
  const commands = madeUpTape(20);
  const localUs = commands.map(
    ({ kind, timeUs }) => timeUs + (kind === 'tapeTrade' ? 40_000 : 5000),
  );
  async function* tape(): AsyncGenerator<{ commands: typeof commands; localUs: number[] }> {
    yield await Promise.resolve({ commands, localUs });
  }
  const entry = entryOf(strategy, { latency: latency(), barsUs: [SECOND_US] });
  await runBacktest(inputOf([entry], 20, { tape: tape() }));
}

test('a strategy that only receives bars has the recorded latency of their trades', async () => {
  const waits: number[] = [];
  const trips: number[] = [];
  await run({
    async onBar({ timeUs }, context) {
      waits.push(context.now() - timeUs);
      const sentUs = context.now();
      await context.client.call('getTime', {});
      trips.push(context.now() - sentUs);
    },
  });
  expect(waits.length).toBeGreaterThan(15);
  expect(new Set(waits)).toEqual(new Set([40_000]));
  expect(new Set(trips)).toEqual(new Set([80_000]));
});

test('no bar arrives before one of its trades', async () => {
  const builder = new BarBuilder(
    { symbol: 'T', price: (ticks) => ticks, size: (lots) => lots },
    SECOND_US,
  );
  expect(builder.recordedUs).toBeNull();
  const trade = (timeUs: number, recordedUs: number | null): void => {
    builder.onTrade({ timeUs, priceTicks: 1, lots: 1 }, recordedUs);
  };
  trade(100_000, null);
  expect(builder.recordedUs).toBeNull();
  trade(900_000, 700_000);
  trade(950_000, 3000);
  // A trade without a recorded time is one of a strategy.
  trade(960_000, null);
  expect(builder.recordedUs).toBe(600_000);
  const saved = builder.save();
  builder.finish();
  expect(builder.recordedUs).toBeNull();
  builder.load(saved);
  expect(builder.recordedUs).toBe(600_000);
  builder.finish();
  trade(2_900_000, 3000);
  expect(builder.recordedUs).toBe(3000);

  const arrivals: [string, number][] = [];
  await run({
    onTrade: ({ timeUs }) => void arrivals.push(['trade', timeUs]),
    onBar: ({ timeUs }) => void arrivals.push(['bar', timeUs]),
  });
  arrivals.forEach(([what, timeUs], i) => {
    const later = arrivals.slice(i).filter(([other]) => other === 'trade');
    if (what === 'bar') expect(later.every(([, atUs]) => atUs >= timeUs)).toBe(true);
  });
});
