/**
 * Noise trader: buys or sells at random. Some orders are marketable; the others rest near the price
 * and expire. Sizes have a long tail: lots ÷ u, u uniform between 0.01 and 1.
 */
import { defineStrategy, integer, number } from '../strategy/definition.ts';
import { expiry, LIMITS, look, lotsOf, trade, WAKE, wakeLater } from './wake.ts';

export const noiseAgent = defineStrategy({
  name: 'noise',
  parameters: {
    ...WAKE,
    ...LIMITS,
    taking: number(0.4, { min: 0, max: 1, describe: 'fraction of marketable orders' }),
    widthBp: number(20, {
      min: 0.1,
      max: 10_000,
      describe: 'max distance of the others from the price',
    }),
    lifeMs: integer(30_000, { min: 1000, max: 86_400_000, describe: 'lifetime of resting orders' }),
  },
  create: ({ everyMs, lots, maxLots, taking, widthBp, lifeMs }) => {
    let position = 0;
    return {
      onStart: (context) => wakeLater(context, everyMs),
      async onTimer(_name, context) {
        wakeLater(context, everyMs);
        const { random } = context;
        // The larger its position, the likelier a trade that reduces it.
        const buys = random.next() < 0.5 - (0.5 * position) / maxLots;
        const size = Math.floor(lots / (0.01 + 0.99 * random.next()));
        const room = buys ? maxLots - position : maxLots + position;
        const amount = Math.min(size, Math.max(0, room));
        const takes = random.next() < taking;
        const away = (random.next() * widthBp) / 1e4;
        if (amount === 0) return;
        const side = buys ? 'buy' : 'sell';
        if (takes) {
          await trade(context, side, amount);
          return;
        }
        const seen = await look(context);
        if (seen === null) return;
        await trade(context, side, amount, {
          price: context.market().price(seen.price * (1 + (buys ? -away : away))),
          expiresAt: expiry(context, lifeMs),
        });
      },
      onFill: (fill, context) => {
        position = lotsOf(fill.position, context);
      },
      save: () => position,
      load: (saved) => {
        position = saved as number;
      },
    };
  },
});
