/**
 * Two simple moving averages of the close: long while the fast one is above the slow one, short or
 * flat while it is below.
 *
 * Try: orrery backtest examples/strategies/sma-cross.ts --data data/btcusdt-20240808 --param fast=3
 * --param slow=8
 */
import {
  choice,
  decimal,
  defineStrategy,
  flag,
  integer,
  MatcherError,
  type Strategy,
  type StrategyContext,
} from 'orrery/strategy';
import { SMA } from 'trading-signals';

const BARS_US = { '1s': 1_000_000, '10s': 10_000_000, '1m': 60_000_000, '1h': 3_600_000_000 };

export default defineStrategy({
  name: 'sma cross',
  parameters: {
    fast: integer(5, { min: 2, max: 100, describe: 'bars of the fast average' }),
    slow: integer(20, { min: 3, max: 500, describe: 'bars of the slow average' }),
    bar: choice('1s', ['1s', '10s', '1m', '1h'], 'length of a bar'),
    size: decimal('0.01', { min: '0.001', max: '10', step: '0.001', describe: 'position size' }),
    short: flag(true, 'sell short while the fast average is below'),
  },
  barsUs: ({ bar }) => [BARS_US[bar]],
  // The slow average needs its bars before the first cross.
  warmUpUs: ({ slow, bar }) => slow * BARS_US[bar],

  create: ({ fast, slow, size, short }): Strategy => {
    if (fast >= slow) throw new Error(`fast ${String(fast)} must be below slow ${String(slow)}`);
    /** Closes of the last `slow` bars, which the averages are made of again after a restart. */
    let closes: number[] = [];
    let averages = [new SMA(fast), new SMA(slow)] as const;
    let position = 0;
    let busy = false;

    const take = (close: number): void => {
      closes.push(close);
      if (closes.length > slow) closes.shift();
      for (const average of averages) average.update(close, false);
    };
    const trade = async (target: number, context: StrategyContext): Promise<void> => {
      busy = true;
      try {
        await context.submit({
          side: target > position ? 'buy' : 'sell',
          size: context.market().size(Math.abs(target - position), 'nearest'),
        });
      } catch (error) {
        if (!(error instanceof MatcherError)) throw error;
        context.log(`refused: ${error.message}`);
      } finally {
        busy = false;
      }
    };

    return {
      // Not async: a handler that returns nothing costs no promise.
      onBar(bar, context) {
        // Updates of the other markets of the data arrive as well.
        if (bar.symbol !== context.symbol) return undefined;
        take(bar.close);
        if (closes.length < slow || context.warmingUp || busy) return undefined;
        const [fastAverage, slowAverage] = averages;
        const up = fastAverage.getResultOrThrow() > slowAverage.getResultOrThrow();
        const target = up ? Number(size) : short ? -Number(size) : 0;
        return target === position ? undefined : trade(target, context);
      },
      onFill(fill) {
        position = Number(fill.position);
      },
      save: () => ({ closes, position }),
      load: (saved) => {
        const state = saved as { closes: number[]; position: number };
        closes = [];
        averages = [new SMA(fast), new SMA(slow)];
        state.closes.forEach(take);
        position = state.position;
      },
    };
  },
});
