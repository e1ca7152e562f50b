/**
 * Funding carry: holds the side that receives funding while recent rates are high enough. In each
 * market it is short if the average of the last rates is above the threshold, long if it is below
 * the negative threshold, and otherwise flat. It is not hedged: it bears the price risk of its
 * position.
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
  name: 'funding carry',
  parameters: {
    size: decimal('0.05', { min: '0.001', max: '100', step: '0.001', describe: 'position size' }),
    rates: integer(3, { min: 1, max: 100, describe: 'number of rates to average' }),
    thresholdBp: number(0.5, {
      min: 0,
      max: 100,
      describe: 'min average rate for a position, 1/10,000',
    }),
  },

  create: ({ size, rates, thresholdBp }): Strategy => {
    let last = new Map<string, number[]>();
    let positions = new Map<string, number>();
    let earned = 0;

    async function hold(symbol: string, target: number, context: StrategyContext): Promise<void> {
      const change = target - (positions.get(symbol) ?? 0);
      if (change === 0) return;
      try {
        await context.submit({
          symbol,
          side: change > 0 ? 'buy' : 'sell',
          size: context.market(symbol).size(Math.abs(change), 'nearest'),
        });
      } catch (error) {
        if (!(error instanceof MatcherError)) throw error;
        context.log(`${symbol}: ${error.message}`);
      }
    }

    return {
      async onFunding(funding, context) {
        earned += Number(funding.payment);
        const seen = [...(last.get(funding.symbol) ?? []), Number(funding.rate)].slice(-rates);
        last.set(funding.symbol, seen);
        if (seen.length < rates || context.warmingUp) return;
        const average = seen.reduce((sum, rate) => sum + rate, 0) / seen.length;
        const pays = Math.abs(average) * 1e4 >= thresholdBp;
        await hold(funding.symbol, pays ? -Math.sign(average) * Number(size) : 0, context);
      },
      onFill(fill) {
        positions.set(fill.symbol, Number(fill.position));
      },
      onStop(context) {
        context.log(`funding received ${earned.toFixed(6)}`);
      },
      save: () => ({ last, positions, earned }),
      load: (saved) => {
        ({ last, positions, earned } = saved as {
          last: Map<string, number[]>;
          positions: Map<string, number>;
          earned: number;
        });
      },
    };
  },
});
