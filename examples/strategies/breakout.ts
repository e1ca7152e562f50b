/**
 * Breakout with protective orders: when a bar closes above the highest high or below the lowest low
 * of the previous bars, it opens a position in that direction with a take-profit and a stop-loss.
 * Distances are in average true ranges. One position at a time, closed by its protective orders.
 */
import {
  choice,
  decimal,
  defineStrategy,
  integer,
  MatcherError,
  number,
  type BarUpdate,
  type Strategy,
} from 'orrery/strategy';
import { ATR } from 'trading-signals';

const BARS_US = { '1s': 1_000_000, '10s': 10_000_000, '1m': 60_000_000, '1h': 3_600_000_000 };

export default defineStrategy({
  name: 'breakout',
  parameters: {
    bar: choice('1s', ['1s', '10s', '1m', '1h'], 'length of a bar'),
    channel: integer(20, { min: 2, max: 500, describe: 'bars of the channel' }),
    takeProfit: number(3, { min: 0.1, max: 50, describe: 'in average true ranges' }),
    stopLoss: number(2, { min: 0.1, max: 50, describe: 'in average true ranges' }),
    size: decimal('0.02', { min: '0.001', max: '10', step: '0.001', describe: 'position size' }),
  },
  barsUs: ({ bar }) => [BARS_US[bar]],
  warmUpUs: ({ channel, bar }) => (channel + 1) * BARS_US[bar],

  create: ({ channel, takeProfit, stopLoss, size }): Strategy => {
    let bars: BarUpdate[] = [];
    let position = 0;
    let busy = false;

    return {
      async onBar(bar, context) {
        // Updates of the other markets of the data arrive as well.
        if (bar.symbol !== context.symbol) return;
        const before = bars;
        bars = [...bars, bar].slice(-channel);
        if (before.length < channel || context.warmingUp || busy || position !== 0) return;
        const high = Math.max(...before.map((each) => each.high));
        const low = Math.min(...before.map((each) => each.low));
        const up = bar.close > high;
        if (!up && bar.close >= low) return;
        const range = averageRange(before);
        const way = up ? 1 : -1;
        const market = context.market();
        busy = true;
        try {
          await context.submit({
            side: up ? 'buy' : 'sell',
            size,
            takeProfit: market.price(bar.close + way * takeProfit * range),
            stopLoss: market.price(bar.close - way * stopLoss * range),
          });
        } catch (error) {
          if (!(error instanceof MatcherError)) throw error;
          context.log(`refused: ${error.message}`);
        } finally {
          busy = false;
        }
      },
      onFill(fill) {
        position = Number(fill.position);
      },
      save: () => ({ bars, position }),
      load: (saved) => {
        ({ bars, position } = saved as { bars: BarUpdate[]; position: number });
      },
    };
  },
});

function averageRange(bars: readonly BarUpdate[]): number {
  const atr = new ATR(bars.length - 1);
  for (const { high, low, close } of bars) atr.update({ high, low, close }, false);
  return atr.getResultOrThrow();
}
