/**
 * Two exponential moving averages of the close: long while the fast one is at or above the slow
 * one, short while it is below. A position in the wrong direction is closed by one order, and
 * another opens the new one. The position is closed at the end.
 *
 * This is the EMA cross of NautilusTrader's examples. Docs: "Comparison with other tools" in docs/BACKTESTING.md.
 *
 * Try: orrery backtest examples/strategies/ema-cross.ts --data data/btcusdt-20240808 --param bar=1s
 */
import { choice, decimal, defineStrategy, integer, type Strategy } from 'orrery/strategy';
import { EMA } from 'trading-signals';

const BARS_US = { '1s': 1_000_000, '1m': 60_000_000, '1h': 3_600_000_000, '1d': 86_400_000_000 };

export default defineStrategy({
  name: 'ema cross',
  parameters: {
    fast: integer(10, { min: 2, max: 100, describe: 'bars of the fast average' }),
    slow: integer(20, { min: 3, max: 500, describe: 'bars of the slow average' }),
    bar: choice('1m', ['1s', '1m', '1h', '1d'], 'length of a bar'),
    size: decimal('0.01', { min: '0.001', max: '10', step: '0.001', describe: 'position size' }),
  },
  barsUs: ({ bar }) => [BARS_US[bar]],

  create: ({ fast, slow, size }): Strategy => {
    const averages = { fast: new EMA(fast), slow: new EMA(slow) };
    let bars = 0;
    let position = 0;

    return {
      async onBar({ symbol, open, high, low, close }, context) {
        // Updates of the other markets of the data arrive as well.
        if (symbol !== context.symbol) return;
        bars += 1;
        averages.fast.add(close);
        averages.slow.add(close);
        // A bar with a single price contains no information.
        if (bars < slow || context.warmingUp || (open === close && high === low)) return;
        const up = averages.fast.getResultOrThrow() >= averages.slow.getResultOrThrow();
        const side = up ? 'buy' : 'sell';
        if (up ? position > 0 : position < 0) return;
        if (position !== 0) await context.submit({ side, size });
        await context.submit({ side, size });
      },
      onFill(fill) {
        position = Number(fill.position);
      },
      async onStop(context) {
        if (position === 0) return;
        await context.submit({ side: position > 0 ? 'sell' : 'buy', size });
      },
    };
  },
});
