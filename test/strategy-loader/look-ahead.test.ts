import { expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/run-backtest.ts';
import type { Strategy, StrategyContext } from '../../src/strategy/strategy.ts';
import { constantLatency } from '../../src/virtual-time/latency.ts';
import type { Command } from '../../src/engine/commands.ts';
import { batchesOf, entryOf, inputOf, madeUpTape, START_US } from '../backtest/made-up.ts';

const LEGS = { feedUs: 2000, entryUs: 3000, responseUs: 4000 };
const latency = constantLatency(LEGS.feedUs, LEGS.entryUs, LEGS.responseUs);

/** All updates and responses of a strategy, with their times. */
interface Observed {
  readonly atUs: number;
  readonly what: string;
}

/** Calls all read endpoints, receives all updates, and records everything. */
function spy(observed: Observed[]): Strategy {
  const note = (context: StrategyContext, what: unknown): void => {
    observed.push({ atUs: context.now(), what: JSON.stringify(what) });
  };
  const far = 9_000_000_000_000;
  const ask = async (context: StrategyContext): Promise<void> => {
    const { client, account, subaccountIndex, symbol } = context;
    const own = { account, subaccountIndex };
    const sentUs = context.now();
    const answers = await Promise.all([
      client.call('getBook', { symbol, depth: 1000 }),
      client.call('getTrades', { symbol, from: 0, to: far, limit: 1000 }),
      client.call('getCandles', { symbol, interval: '1m', from: 0, to: far, limit: 1000 }),
      client.call('getSummary', { symbol }),
      client.call('getPrice', { symbol }),
      client.call('getPrices', {}),
      client.call('getTime', {}),
      client.call('getMarkets', {}),
      client.call('getConfig', {}),
      client.call('getStats', own),
      client.call('getBalance', { account }),
      client.call('getPositions', own),
      client.call('getTransfers', { ...own, from: 0, to: far }),
      client.call('listOrders', own),
    ]);
    expect(context.now() - sentUs).toBe(LEGS.entryUs + LEGS.responseUs);
    note(context, answers);
  };
  const receive = (update: { timeUs: number }, context: StrategyContext): void => {
    // No update is delivered earlier than one feed latency after its event.
    expect(update.timeUs + LEGS.feedUs).toBeLessThanOrEqual(context.now());
    note(context, update);
  };
  return {
    onStart: (context) => context.setTimer('ask', 1_000_000),
    async onTimer(_name, context) {
      context.setTimer('ask', 1_000_000);
      const side = context.random.below(2) === 0 ? 'buy' : 'sell';
      const placed = await context.submit({ side, size: '0.02' }).catch(String);
      note(context, placed);
      await ask(context);
    },
    onBook: receive,
    onTrade: receive,
    onBar: receive,
    onFill: receive,
    onOrder: receive,
    onFunding: receive,
  };
}

async function observedBy(commands: readonly Command[]): Promise<Observed[]> {
  const observed: Observed[] = [];
  await runBacktest(
    inputOf(
      [entryOf(spy(observed), { latency, bookDepth: 50, barsUs: [1_000_000, 60_000_000] })],
      0,
      {
        tape: batchesOf(commands),
      },
    ),
  );
  return observed;
}

/** A history that differs from a time on: prices a tenth higher, sizes doubled. */
function changedFrom(commands: readonly Command[], fromUs: number): Command[] {
  return commands.map((command): Command => {
    if (command.timeUs < fromUs) return command;
    if (command.kind === 'tapeTrade')
      return { ...command, lots: (command.lots * 2) as typeof command.lots };
    if (command.kind !== 'tapeDepth') return command;
    return {
      ...command,
      levels: command.levels.map((level) => ({
        ...level,
        lots: (level.lots * 2) as typeof level.lots,
      })),
    };
  });
}

test.each([7, 23])(
  'the state of a strategy does not depend on later events (%i s)',
  async (seconds) => {
    const fromUs = START_US + seconds * 1_000_000;
    const tape = madeUpTape(30);
    const [one, other] = [await observedBy(tape), await observedBy(changedFrom(tape, fromUs))];
    const before = (observed: readonly Observed[]): readonly Observed[] =>
      observed.filter(({ atUs }) => atUs < fromUs + Math.min(LEGS.feedUs, LEGS.responseUs));
    expect(before(one).length).toBeGreaterThan(100);
    expect(before(other)).toEqual(before(one));
    // The change has an effect afterwards.
    expect(other).not.toEqual(one);
  },
);

test('an update cannot be changed for its other receivers', async () => {
  const received: (number | null)[] = [];
  const vandal: Strategy = {
    onBook(update) {
      expect(() => {
        (update as { mid: number }).mid = 0;
      }).toThrow(TypeError);
      expect(() => {
        (update.bids as unknown[]).length = 0;
      }).toThrow(TypeError);
    },
  };
  const honest: Strategy = {
    onBook: (update) => void received.push(update.mid),
  };
  await runBacktest(inputOf([entryOf(vandal, { id: 'vandal' }), entryOf(honest)], 2));
  expect(received.length).toBeGreaterThan(10);
  expect(received).not.toContain(0);
});
