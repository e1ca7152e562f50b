/**
 * Liquidation hunter. After a large price move in a short time, leveraged accounts on the losing
 * side are close to liquidation. It trades in the direction of the move, waits for the forced
 * orders and closes its position against them.
 */
import { defineStrategy, integer } from '../strategy/definition.ts';
import { LIMITS, look, lotsOf, threshold, trade, WAKE, wakeLater } from './wake.ts';

/** State between two observations. */
interface Known {
  readonly seenPrices: number[];
  readonly position: number;
  readonly held: number;
}

export const hunterAgent = defineStrategy({
  name: 'liquidation hunter',
  parameters: {
    ...WAKE,
    ...LIMITS,
    thresholdBp: { ...threshold, default: 40 },
    memory: integer(10, { min: 2, max: 1000, describe: 'observations of a price run' }),
    holds: integer(5, { min: 1, max: 1000, describe: 'observations before it closes' }),
  },
  create: ({ everyMs, lots, maxLots, thresholdBp, memory, holds }) => {
    let seenPrices: number[] = [];
    let position = 0;
    let held = 0;
    return {
      onStart: (context) => wakeLater(context, everyMs),
      async onTimer(_name, context) {
        wakeLater(context, everyMs);
        const seen = await look(context);
        if (seen === null) return;
        const oldest = seenPrices[0] ?? seen.price;
        seenPrices = [...seenPrices, seen.price].slice(-memory);
        if (position !== 0) {
          held += 1;
          if (held < holds) return;
          await trade(context, position > 0 ? 'sell' : 'buy', Math.abs(position), {
            reduceOnly: true,
          });
          return;
        }
        held = 0;
        const ranBp = (seen.price / oldest - 1) * 1e4;
        if (Math.abs(ranBp) < thresholdBp) return;
        await trade(context, ranBp > 0 ? 'buy' : 'sell', Math.min(maxLots, lots * 10));
      },
      onFill: (fill, context) => {
        position = lotsOf(fill.position, context);
      },
      save: (): Known => ({ seenPrices, position, held }),
      load: (saved) => {
        ({ seenPrices, position, held } = saved as Known);
      },
    };
  },
});
