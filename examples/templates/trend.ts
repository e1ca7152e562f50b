/** {{name}}: follows the trend of the last bars with one position at a time. */
import { decimal, defineStrategy, integer, MatcherError, type Strategy } from 'orrery/strategy';

export default defineStrategy({
  name: '{{name}}',
  // Typed, with ranges: --param bars=30 sets one; a search varies them.
  parameters: {
    bars: integer(10, { min: 2, max: 200, describe: 'number of bars to look back' }),
    size: decimal('0.01', { min: '0.001', max: '10', step: '0.001', describe: 'position size' }),
  },
  // Lengths of the bars for onBar: one second. Add 60_000_000 for minutes.
  barsUs: () => [1_000_000],
  // Until then it receives updates, and writes are rejected.
  warmUpUs: ({ bars }) => bars * 1_000_000,

  create: ({ bars, size }): Strategy => {
    let closes: number[] = [];
    let position = 0;

    return {
      async onBar(bar, context) {
        // Bars of the other markets of the data arrive as well.
        if (bar.symbol !== context.symbol) return;
        closes = [...closes, bar.close].slice(-bars);
        const [oldest] = closes;
        if (oldest === undefined || closes.length < bars || context.warmingUp) return;
        const target = bar.close > oldest ? Number(size) : bar.close < oldest ? -Number(size) : 0;
        const change = target - position;
        if (change === 0) return;
        try {
          // Without a price the order is immediate or cancel. A limit order has
          // price: context.market().price(61_000).
          await context.submit({
            side: change > 0 ? 'buy' : 'sell',
            size: context.market().size(Math.abs(change), 'nearest'),
          });
        } catch (error) {
          if (!(error instanceof MatcherError)) throw error;
          context.log(`rejected: ${error.message}`);
        }
      },
      onFill(fill) {
        position = Number(fill.position);
      },
      // With these a stopped run can be resumed.
      save: () => ({ closes, position }),
      load: (saved) => {
        ({ closes, position } = saved as { closes: number[]; position: number });
      },
    };
  },
});
