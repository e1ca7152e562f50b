import { deserialize, serialize } from 'node:v8';
import { expect, test } from 'vitest';
import { parseParameters } from '../../src/strategy/definition.ts';
import type { BacktestCheckpoint, BacktestOutput } from '../../src/backtest/output.ts';
import { runBacktest, type BacktestInput } from '../../src/backtest/run-backtest.ts';
import marketMaker from '../../examples/strategies/quotes.ts';
import type { Strategy } from '../../src/strategy/strategy.ts';
import { FaultModel } from '../../src/virtual-time/faults.ts';
import { jitteredLatency } from '../../src/virtual-time/latency.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';
import { batchesOf, entryOf, inputOf, madeUpTape, specOf, START_US } from './made-up.ts';

const PARAMETERS = parseParameters(marketMaker.parameters, {
  halfSpread: 6,
  skew: 2,
  moveTicks: 2,
});

/** Trades at random on bars and timers; its saved state is complete. */
function dicer(): Strategy {
  let known = { bars: 0, rings: 0 };
  return {
    onStart: (context) => context.setTimer('dice', 700_000),
    async onTimer(name, context) {
      known.rings += 1;
      context.setTimer(name, 700_000);
      const side = context.random.below(2) === 0 ? 'buy' : 'sell';
      await context.submit({ side, size: '0.01' }).catch(() => undefined);
    },
    onBar: () => {
      known.bars += 1;
    },
    onStop: (context) => context.log(`${known.bars} bars, ${known.rings} rings`),
    save: () => known,
    load: (saved) => {
      known = saved as typeof known;
    },
  };
}

/** Two markets, two strategies, random latency and faults. */
function makeInput(saved: BacktestCheckpoint | null, journal: Uint8Array[]): BacktestInput {
  const streams = new RandomStreams('resume', saved?.random);
  const legs = { feedUs: 2000, entryUs: 3000, responseUs: 4000, computeUs: 100 };
  const tape = [...madeUpTape(30), ...madeUpTape(30, 1, 'other')].sort(
    (a, b) => a.timeUs - b.timeUs,
  );
  return inputOf(
    [
      entryOf(marketMaker.create(PARAMETERS), {
        id: 'maker',
        symbols: ['T'],
        latency: jitteredLatency(legs, 500, streams.stream('latency maker')),
        faults: new FaultModel(
          { reject: 0.02, limit: 0.02, disconnect: { everyUs: 7_000_000, forUs: 600_000 } },
          streams.stream('faults maker'),
          START_US,
        ),
      }),
      entryOf(dicer(), { id: 'dicer', symbols: ['U'], barsUs: [2_000_000, 5_000_000] }),
    ],
    0,
    {
      markets: [specOf('T'), specOf('U')],
      tape: batchesOf(tape),
      streams,
      tradeFromUs: START_US + 3_000_000,
      journal: (bytes) => journal.push(bytes),
      resume: saved,
    },
  );
}

const figures = ({ strategies, markets, chainHash, stateHash, commands }: BacktestOutput) => ({
  strategies,
  markets,
  chainHash,
  stateHash,
  commands,
});

test.each([3, 17, 60])(
  'a run that stops after %i batches and goes on is the run that did not stop',
  async (batches) => {
    const wholeJournal: Uint8Array[] = [];
    const whole = await runBacktest(makeInput(null, wholeJournal));
    expect(whole.strategies[0]!.summary.fills).toBeGreaterThan(10);
    expect(whole.strategies[0]!.summary.refusedRequests).toBeGreaterThan(0);
    expect(whole.strategies[1]!.summary.fills).toBeGreaterThan(10);

    const journal: Uint8Array[] = [];
    let polled = 0;
    const first = await runBacktest({
      ...makeInput(null, journal),
      cancelled: () => ++polled >= batches,
    });
    expect(first.cancelled).toBe(true);
    const checkpoint = deserialize(serialize(first.checkpoint)) as BacktestCheckpoint;
    expect(checkpoint.journalBytes).toBe(journal.reduce((sum, { length }) => sum + length, 0));
    const second = await runBacktest(makeInput(checkpoint, journal));
    expect(figures(second)).toEqual(figures(whole));
    expect(Buffer.concat(journal).equals(Buffer.concat(wholeJournal))).toBe(true);
  },
);

test('a strategy without save and load leaves no checkpoint', async () => {
  let polled = 0;
  const output = await runBacktest(
    inputOf([entryOf({ onBook: () => undefined })], 20, { cancelled: () => ++polled > 2 }),
  );
  expect(output.cancelled).toBe(true);
  expect(output.checkpoint).toBeNull();
});
