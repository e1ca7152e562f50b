/**
 * Recorded bars in a backtest: a bar is delivered at its end, and an order sent then fills in the
 * next bar (docs/DATA.md "Bars").
 */
import { expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/run-backtest.ts';
import type { BarUpdate, FillUpdate } from '../../src/strategy/strategy.ts';
import { lots, marketId, quanta } from '../../src/num/units.ts';
import { barCommand } from '../bench/bar-flow.ts';
import { batchesOf, entryOf, inputOf, specOf, START_US } from './made-up.ts';

const MINUTE_US = 60_000_000;

test('a bar is delivered at its end, and an order sent then fills in the next', async () => {
  const prices = [
    [100, 104, 98, 102],
    [102, 110, 101, 108],
    [108, 109, 95, 97],
  ] as const;
  const tape = prices.map(([open, high, low, close], minute) => ({
    ...barCommand({ minute, open, high, low, close, volume: 50 }, START_US),
    market: marketId(0),
  }));
  const bars: BarUpdate[] = [];
  const fills: FillUpdate[] = [];
  const strategy = entryOf(
    {
      onBar: async (bar, context) => {
        bars.push(bar);
        if (bars.length === 1) await context.submit({ side: 'buy', size: '1', price: '101' });
      },
      onFill: (fill) => {
        fills.push(fill);
      },
    },
    { barsUs: [MINUTE_US] },
  );
  const spec = specOf('T', {
    tickSize: '1',
    lotSize: '1',
    indexSource: 'mid',
    markSource: 'last',
    recordedLiquidity: true,
    funding: { source: 'external' },
  });
  await runBacktest(inputOf([strategy], 0, { markets: [spec], tape: batchesOf(tape) }));
  const ticks = bars.map(({ open, high, low, close }) => [open, high, low, close]);
  expect(ticks).toEqual(prices.slice(0, ticks.length).map((row) => [...row]));
  expect(bars[0]).toMatchObject({ startUs: START_US, timeUs: START_US + MINUTE_US, volume: 50 });
  expect(fills).toHaveLength(1);
  expect(fills[0]).toMatchObject({ role: 'maker', price: '101' });
});

test('an order far through the book changes neither mark, mid nor buy and hold', async () => {
  const tape = Array.from({ length: 8 }, (_, minute) => {
    const price = 1000 + minute;
    const bar = { minute, open: price, high: price, low: price, close: price, volume: 5 };
    return {
      ...barCommand(bar, START_US),
      spreadTicks: 2,
      depthLots: lots(5),
      market: marketId(0),
    };
  });
  const spec = specOf('T', {
    ...{ tickSize: '1', lotSize: '1', maxQuantity: '4000', funding: { source: 'external' } },
    ...{ indexSource: 'mid', markSource: 'index', recordedLiquidity: true },
  });
  const run = async (sells: boolean) => {
    let bars = 0;
    const strategy = entryOf(
      {
        onBar: async (_bar, context) => {
          bars += 1;
          if (!sells || bars < 2) return;
          // The second one changes the book between two bars.
          const size = bars === 2 ? '3000' : '1';
          await context.submit({ side: 'sell', size, price: String(960 + bars) });
        },
      },
      { barsUs: [MINUTE_US], deposit: quanta(10n ** 14n) },
    );
    const input = inputOf([strategy], 0, { markets: [spec], tape: batchesOf(tape) });
    const { markets, strategies } = await runBacktest({ ...input, sampleUs: 10_000_000 });
    const of = (name: 'mid' | 'mark'): (number | null)[] =>
      (markets[0]?.series ?? []).map((point) => point[name]);
    const sold = (strategies[0]?.fills ?? []).length;
    return { sold, marks: of('mark'), mids: of('mid'), hold: strategies[0]?.benchmark };
  };
  const [alone, pushed] = [await run(false), await run(true)];
  expect(pushed.sold).toBeGreaterThan(0);
  expect(pushed.marks).toEqual(alone.marks);
  // No mid while a side of the book is taken.
  expect(pushed.mids.map((mid, i) => mid ?? alone.mids[i])).toEqual(alone.mids);
  expect(pushed.hold?.at(-1)?.equity).toBe(alone.hold?.at(-1)?.equity);
});
