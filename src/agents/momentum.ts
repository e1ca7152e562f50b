/**
 * Momentum: compares a fast and a slow moving average of observed prices. It follows the move while
 * the averages differ by more than a threshold, and closes its position when they cross.
 */
import { defineStrategy, integer } from '../strategy/definition.ts';
import { LIMITS, look, lotsOf, threshold, trade, WAKE, wakeLater } from './wake.ts';

/** State between two observations. */
interface Known {
  readonly position: number;
  readonly quick: number | null;
  readonly lazy: number | null;
}

export const momentumAgent = defineStrategy({
  name: 'momentum',
  parameters: {
    ...WAKE,
    ...LIMITS,
    thresholdBp: threshold,
    fast: integer(3, { min: 1, max: 1000, describe: 'observations of the fast average' }),
    slow: integer(12, { min: 2, max: 10_000, describe: 'observations of the slow average' }),
  },
  create: ({ everyMs, lots, maxLots, thresholdBp, fast, slow }) => {
    let position = 0;
    let quick: number | null = null;
    let lazy: number | null = null;
    return {
      onStart: (context) => wakeLater(context, everyMs),
      async onTimer(_name, context) {
        wakeLater(context, everyMs);
        const seen = await look(context);
        if (seen === null) return;
        quick = quick === null ? seen.price : quick + (seen.price - quick) / fast;
        lazy = lazy === null ? seen.price : lazy + (seen.price - lazy) / slow;
        const apartBp = (quick / lazy - 1) * 1e4;
        const way = apartBp > thresholdBp ? 1 : apartBp < -thresholdBp ? -1 : 0;
        const target = way * maxLots;
        const change = way === 0 ? -position : Math.max(-lots, Math.min(lots, target - position));
        if (change !== 0) {
          await trade(context, change > 0 ? 'buy' : 'sell', Math.abs(change));
        }
      },
      onFill: (fill, context) => {
        position = lotsOf(fill.position, context);
      },
      save: (): Known => ({ position, quick, lazy }),
      load: (saved) => {
        ({ position, quick, lazy } = saved as Known);
      },
    };
  },
});
