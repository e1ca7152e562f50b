/**
 * Value trader: estimates the value as the index plus a persistent error of its own. It trades
 * toward the estimate when the price differs by more than a threshold; larger differences mean
 * larger orders.
 */
import { defineStrategy, number } from '../strategy/definition.ts';
import { normal } from './fundamental.ts';
import { LIMITS, look, lotsOf, threshold, trade, WAKE, wakeLater } from './wake.ts';

/** State between two observations. */
interface Known {
  readonly position: number;
  readonly error: number | null;
}

export const valueAgent = defineStrategy({
  name: 'value',
  parameters: {
    ...WAKE,
    ...LIMITS,
    thresholdBp: threshold,
    errorBp: number(10, { min: 0, max: 10_000, describe: 'standard deviation of its estimate' }),
  },
  create: ({ everyMs, lots, maxLots, thresholdBp, errorBp }) => {
    let position = 0;
    let error: number | null = null;
    return {
      onStart: (context) => wakeLater(context, everyMs),
      async onTimer(_name, context) {
        wakeLater(context, everyMs);
        error ??= (normal(context.random) * errorBp) / 1e4;
        const seen = await look(context);
        if (seen === null) return;
        const offBp = (seen.price / (seen.index * (1 + error)) - 1) * 1e4;
        if (Math.abs(offBp) < thresholdBp) return;
        const buys = offBp < 0;
        const room = buys ? maxLots - position : maxLots + position;
        const wanted = Math.ceil((lots * Math.abs(offBp)) / Math.max(1, thresholdBp));
        const amount = Math.min(wanted, Math.max(0, room));
        if (amount > 0) await trade(context, buys ? 'buy' : 'sell', amount);
      },
      onFill: (fill, context) => {
        position = lotsOf(fill.position, context);
      },
      save: (): Known => ({ position, error }),
      load: (saved) => {
        ({ position, error } = saved as Known);
      },
    };
  },
});
