/**
 * {{name}}: pairs trading. Follows the log ratio of the first two markets. When it is far from its
 * mean, in standard deviations, it sells the expensive market and buys the cheap one for the same value,
 * and closes both when the ratio is back.
 */
import {
  choice,
  decimal,
  defineStrategy,
  integer,
  MatcherError,
  number,
  type Strategy,
  type StrategyContext,
} from 'orrery/strategy';

const BARS_US = { '1s': 1_000_000, '1m': 60_000_000, '1h': 3_600_000_000 };

export default defineStrategy({
  name: '{{name}}',
  parameters: {
    bar: choice('1h', ['1s', '1m', '1h'], 'length of a bar'),
    bars: integer(120, { min: 10, max: 2000, describe: 'bars of mean and standard deviation' }),
    enter: number(2, { min: 0.5, max: 10, describe: 'distance that opens, standard deviations' }),
    exit: number(0.5, { min: 0, max: 5, describe: 'distance that closes, standard deviations' }),
    notional: decimal('4000', {
      min: '10',
      max: '1000000',
      step: '10',
      describe: 'value of each side',
    }),
  },
  barsUs: ({ bar }) => [BARS_US[bar]],
  warmUpUs: ({ bars, bar }) => bars * BARS_US[bar],

  create: ({ bars, enter, exit, notional }): Strategy => {
    let closes: Record<string, { timeUs: number; close: number }> = {};
    let ratios: number[] = [];
    let positions: Record<string, number> = {};
    /** 1: long the first and short the second market; −1: the opposite. */
    let side = 0;

    async function hold(symbol: string, value: number, context: StrategyContext): Promise<void> {
      const change = value / (closes[symbol]?.close ?? Infinity) - (positions[symbol] ?? 0);
      const size = context.market(symbol).size(Math.abs(change), 'nearest');
      if (Number(size) === 0) return;
      await context.submit({ symbol, side: change > 0 ? 'buy' : 'sell', size });
    }

    return {
      onStart(context) {
        if (context.symbols.length < 2) throw new Error('pairs needs two markets');
      },
      async onBar({ symbol, timeUs, close }, context) {
        const [first = '', second = ''] = context.symbols;
        closes[symbol] = { timeUs, close };
        const [a, b] = [closes[first], closes[second]];
        // The ratio is that of two closes of the same time.
        if (a?.timeUs !== timeUs || b?.timeUs !== timeUs) return;
        ratios = [...ratios, Math.log(a.close / b.close)].slice(-bars);
        if (ratios.length < bars || context.warmingUp) return;
        const distance = zScore(ratios);
        const wanted =
          Math.abs(distance) > enter ? -Math.sign(distance) : Math.abs(distance) < exit ? 0 : side;
        if (wanted === side) return;
        side = wanted;
        try {
          await hold(first, wanted * Number(notional), context);
          await hold(second, -wanted * Number(notional), context);
        } catch (error) {
          if (!(error instanceof MatcherError)) throw error;
          context.log(`rejected: ${error.message}`);
        }
      },
      onFill({ symbol, position }) {
        positions[symbol] = Number(position);
      },
      save: () => ({ closes, ratios, positions, side }),
      load: (saved) => {
        ({ closes, ratios, positions, side } = saved as {
          closes: Record<string, { timeUs: number; close: number }>;
          ratios: number[];
          positions: Record<string, number>;
          side: number;
        });
      },
    };
  },
});

/** Distance of the last value from the mean, in standard deviations; 0 if all are equal. */
function zScore(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return variance === 0 ? 0 : ((values.at(-1) ?? mean) - mean) / Math.sqrt(variance);
}
