/**
 * {{name}}: funding carry without market risk. Averages the last funding rates of each market. Is
 * short the market with the highest average and long the one with the lowest, for the same value,
 * while the difference exceeds a threshold. It needs at least two markets with funding rates.
 */
import {
  decimal,
  defineStrategy,
  integer,
  MatcherError,
  number,
  type Strategy,
  type StrategyContext,
} from 'orrery/strategy';

export default defineStrategy({
  name: '{{name}}',
  parameters: {
    notional: decimal('4000', {
      min: '10',
      max: '1000000',
      step: '10',
      describe: 'value of each side',
    }),
    rates: integer(9, { min: 1, max: 100, describe: 'number of rates to average' }),
    enterBp: number(1, {
      min: 0,
      max: 100,
      describe: 'difference that opens, 1/10,000 a settlement',
    }),
    exitBp: number(0.2, {
      min: 0,
      max: 100,
      describe: 'difference that closes, 1/10,000 a settlement',
    }),
  },
  barsUs: () => [60_000_000],

  create: ({ notional, rates, enterBp, exitBp }): Strategy => {
    let closes: Record<string, number> = {};
    let seen: Record<string, number[]> = {};
    let positions: Record<string, number> = {};
    let settledUs = 0;

    async function hold(symbol: string, size: number, context: StrategyContext): Promise<void> {
      const change = size - (positions[symbol] ?? 0);
      const text = context.market(symbol).size(Math.abs(change), 'nearest');
      if (Number(text) === 0) return;
      try {
        await context.submit({ symbol, side: change > 0 ? 'buy' : 'sell', size: text });
      } catch (error) {
        if (!(error instanceof MatcherError)) throw error;
        context.log(`${symbol}: rejected: ${error.message}`);
      }
    }

    return {
      onStart(context) {
        if (context.symbols.length < 2) throw new Error('carry needs at least two markets');
      },
      onBar({ symbol, close }) {
        closes[symbol] = close;
      },
      async onFunding({ symbol, rate, timeUs }, context) {
        seen[symbol] = [...(seen[symbol] ?? []), Number(rate)].slice(-rates);
        // Decides once all markets have settled at this time.
        const ready = context.symbols.every((one) => seen[one]?.length === rates && one in closes);
        if (!ready || context.warmingUp || symbol !== context.symbols.at(-1)) return;
        if (timeUs === settledUs) return;
        settledUs = timeUs;
        const averages = context.symbols
          .map((one) => ({ symbol: one, rate: mean(seen[one] ?? []) }))
          .sort((a, b) => a.rate - b.rate);
        const [lowest, highest] = [averages[0], averages.at(-1)];
        if (lowest === undefined || highest === undefined) return;
        const differenceBp = (highest.rate - lowest.rate) * 10_000;
        const isOpen = Object.values(positions).some((position) => position !== 0);
        if (isOpen && differenceBp >= exitBp) return;
        for (const one of context.symbols) {
          const sign =
            differenceBp < enterBp
              ? 0
              : one === lowest.symbol
                ? 1
                : one === highest.symbol
                  ? -1
                  : 0;
          await hold(one, (sign * Number(notional)) / (closes[one] ?? Infinity), context);
        }
      },
      onFill({ symbol, position }) {
        positions[symbol] = Number(position);
      },
      save: () => ({ closes, seen, positions, settledUs }),
      load: (saved) => {
        ({ closes, seen, positions, settledUs } = saved as {
          closes: Record<string, number>;
          seen: Record<string, number[]>;
          positions: Record<string, number>;
          settledUs: number;
        });
      },
    };
  },
});

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
