/**
 * Recorded bars in a backtest: a bar is delivered at its end, and an order sent then fills in the
 * next bar (docs/DATA.md "Bars").
 */
import { expect, test } from 'vitest';
import { runBacktest } from '../../src/backtest/run-backtest.ts';
import type { BarUpdate, FillUpdate } from '../../src/strategy/strategy.ts';
import { marketId } from '../../src/num/units.ts';
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
