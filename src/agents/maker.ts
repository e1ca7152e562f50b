/**
 * Market maker: a ladder of quotes on each side of a middle between price and index. The spread
 * widens with price moves; the middle is skewed against the inventory. Quotes expire at its next
 * observation but one, so a slow maker suffers adverse selection.
 */
import { defineStrategy, integer, number } from '../strategy/definition.ts';
import { expiry, LIMITS, look, lotsOf, trade, WAKE, wakeLater } from './wake.ts';

/** State between two observations. */
interface Known {
  readonly position: number;
  readonly last: number | null;
}

export const makerAgent = defineStrategy({
  name: 'market maker',
  parameters: {
    ...WAKE,
    ...LIMITS,
    levels: integer(3, { min: 1, max: 20, describe: 'quotes per side' }),
    halfSpreadBp: number(3, { min: 0.1, max: 1000, describe: 'spread of the best quotes' }),
    stepBp: number(3, { min: 0.1, max: 1000, describe: 'distance between quotes of a side' }),
    skewBp: number(5, { min: 0, max: 1000, describe: 'skew at the max position' }),
    movesMatter: number(1, { min: 0, max: 100, describe: 'widening by the last move' }),
  },
  create: ({ everyMs, lots, maxLots, levels, halfSpreadBp, stepBp, skewBp, movesMatter }) => {
    let position = 0;
    let last: number | null = null;
    return {
      onStart: (context) => wakeLater(context, everyMs),
      async onTimer(_name, context) {
        wakeLater(context, everyMs);
        const seen = await look(context);
        if (seen === null) return;
        await context.cancelAll();
        const fair = (seen.price + seen.index) / 2;
        const movedBp = last === null ? 0 : Math.abs(fair / last - 1) * 1e4;
        last = fair;
        const lean = (-skewBp * position) / maxLots;
        const half = halfSpreadBp + movesMatter * movedBp;
        const market = context.market();
        const expiresAt = expiry(context, 2 * everyMs);
        for (let level = 0; level < levels; level++) {
          const awayBp = half + level * stepBp;
          const amount = lots * (level + 1);
          if (position < maxLots) {
            const price = market.price(fair * (1 + (lean - awayBp) / 1e4), 'down');
            await trade(context, 'buy', amount, { price, postOnly: true, expiresAt });
          }
          if (position > -maxLots) {
            const price = market.price(fair * (1 + (lean + awayBp) / 1e4), 'up');
            await trade(context, 'sell', amount, { price, postOnly: true, expiresAt });
          }
        }
      },
      onFill: (fill, context) => {
        position = lotsOf(fill.position, context);
      },
      save: (): Known => ({ position, last }),
      load: (saved) => {
        ({ position, last } = saved as Known);
      },
    };
  },
});
