/** A recorded bar as one call equals its four prices as trades. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BarBuilder, barLengths } from '../../src/strategy/bars.ts';

const UNITS = { symbol: 'T', price: (ticks: number) => ticks, size: (lots: number) => lots };
const ticks = fc.integer({ min: 1, max: 1000 });
const bars = fc.array(
  fc.record({
    timeUs: fc.integer({ min: 0, max: 600_000_000 }),
    openTicks: ticks,
    highTicks: ticks,
    lowTicks: ticks,
    closeTicks: ticks,
    volumeLots: fc.integer({ min: -100, max: 100 }),
  }),
  { minLength: 1, maxLength: 20 },
);

test('a recorded bar equals trades at its open, high, low and close', () => {
  fc.assert(
    fc.property(bars, (recorded) => {
      const [whole, byTrade] = [
        new BarBuilder(UNITS, 60_000_000),
        new BarBuilder(UNITS, 60_000_000),
      ];
      for (const bar of recorded) {
        const { timeUs, openTicks, highTicks, lowTicks, closeTicks, volumeLots } = bar;
        whole.onBar(bar);
        for (const priceTicks of [openTicks, highTicks, lowTicks]) {
          byTrade.onTrade({ timeUs, priceTicks, lots: 0 });
        }
        byTrade.onTrade({ timeUs, priceTicks: closeTicks, lots: volumeLots });
        expect(whole.save()).toEqual(byTrade.save());
      }
      expect(whole.finish()).toEqual(byTrade.finish());
    }),
  );
});

test('lengths of bars count once, and are whole microseconds above 0', () => {
  const given = (lengths: readonly number[]) =>
    barLengths({ name: 'x', barsUs: () => lengths }, {});
  expect(given([5, 1, 5])).toEqual([5, 1]);
  expect(barLengths({ name: 'x' }, {})).toEqual([60_000_000]);
  for (const wrong of [0, -1, 1.5, NaN, Infinity]) {
    expect(() => given([1, wrong])).toThrow(`'x': barsUs gives ${wrong}: must be whole`);
  }
});
