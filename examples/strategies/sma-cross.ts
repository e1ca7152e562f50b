/**
 * Two simple moving averages of the close: long while the fast one is above the slow one, short or
 * flat while it is below. It needs no package; `ema-cross.ts` has averages of a library.
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

const BARS_US = { '1s': 1_000_000, '10s': 10_000_000, '1m': 60_000_000, '1h': 3_600_000_000 };

interface State {
  readonly closes: number[];
  readonly bars: number;
  readonly fastSum: number;
  readonly slowSum: number;
  readonly position: number;
}

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
    /** Closes of the last `slow` bars in ticks: whole numbers, so their sums are exact. */
    let closes = new Array<number>(slow).fill(0);
    let bars = 0;
    let [fastSum, slowSum] = [0, 0];
    let tick = 0;
    let position = 0;
    let busy = false;

    const take = (close: number): void => {
      const place = bars % slow;
      fastSum += close - (closes[(place + slow - fast) % slow] ?? 0);
      slowSum += close - (closes[place] ?? 0);
      closes[place] = close;
      bars += 1;
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
        if (tick === 0) tick = Number(context.market().tickSize);
        take(Math.round(bar.close / tick));
        if (bars < slow || context.warmingUp || busy) return undefined;
        const up = fastSum / fast > slowSum / slow;
        const target = up ? Number(size) : short ? -Number(size) : 0;
        return target === position ? undefined : trade(target, context);
      },
      onFill(fill) {
        position = Number(fill.position);
      },
      save: () => ({ closes, bars, fastSum, slowSum, position }),
      load: (saved) => {
        ({ closes, bars, fastSum, slowSum, position } = saved as State);
      },
    };
  },
});
