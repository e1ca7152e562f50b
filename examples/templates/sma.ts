/**
 * {{name}}: crossing of two simple moving averages of the close. Long while the fast average is
 * above the slow one, short or flat while it is below.
 */
import {
  choice,
  decimal,
  defineStrategy,
  flag,
  integer,
  MatcherError,
  type Strategy,
} from 'orrery/strategy';

const BARS_US = { '1s': 1_000_000, '1m': 60_000_000, '1h': 3_600_000_000, '1d': 86_400_000_000 };

export default defineStrategy({
  name: '{{name}}',
  // Typed, with ranges: --param fast=10 sets one; --vary fast=5:50:5 searches it.
  parameters: {
    bar: choice('1h', ['1s', '1m', '1h', '1d'], 'length of a bar'),
    fast: integer(12, { min: 2, max: 500, describe: 'bars of the fast average' }),
    slow: integer(48, { min: 3, max: 1000, describe: 'bars of the slow average' }),
    notional: decimal('5000', {
      min: '10',
      max: '1000000',
      step: '10',
      describe: 'value of a position',
    }),
    short: flag(true, 'sell short while the fast average is below'),
  },
  barsUs: ({ bar }) => [BARS_US[bar]],
  // Until then bars are delivered, and orders are rejected.
  warmUpUs: ({ slow, bar }) => slow * BARS_US[bar],

  create: ({ fast, slow, notional, short }): Strategy => {
    if (fast >= slow) throw new Error(`fast ${String(fast)} must be below slow ${String(slow)}`);
    let closes: number[] = [];
    let position = 0;
    let side = 0;

    return {
      async onBar({ symbol, close }, context) {
        // Bars of the other markets of the data arrive as well.
        if (symbol !== context.symbol) return;
        closes = [...closes, close].slice(-slow);
        if (closes.length < slow || context.warmingUp) return;
        const wanted = mean(closes.slice(-fast)) > mean(closes) ? 1 : short ? -1 : 0;
        if (wanted === side) return;
        const change = (wanted * Number(notional)) / close - position;
        try {
          // Without a price the order is immediate or cancel.
          await context.submit({
            side: change > 0 ? 'buy' : 'sell',
            size: context.market().size(Math.abs(change)),
            // The report names it as the reason of the trade.
            tag: wanted > 0 ? 'crossed up' : 'crossed down',
          });
          side = wanted;
        } catch (error) {
          if (!(error instanceof MatcherError)) throw error;
          context.log(`rejected: ${error.message}`);
        }
      },
      onFill(fill) {
        position = Number(fill.position);
      },
      // With these a stopped run can be resumed.
      save: () => ({ closes, position, side }),
      load: (saved) => {
        ({ closes, position, side } = saved as {
          closes: number[];
          position: number;
          side: number;
        });
      },
    };
  },
});

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
