/**
 * Long while the fast average of the closes is above the slow one, with grademark's conventions:
 * one position at a time, decided on a finished bar and traded at the next open. Stop and target,
 * in price from the entry, are active from the bar after the entry.
 */
import { decimal, defineStrategy, integer, type Strategy } from 'orrery/strategy';

export default defineStrategy({
  name: 'long cross',
  parameters: {
    fast: integer(10, { min: 2, max: 100 }),
    slow: integer(20, { min: 3, max: 500 }),
    size: decimal('1', { min: '0.001', max: '10', step: '0.001' }),
    stop: integer(0, { min: 0, max: 100_000, describe: 'below the entry; 0 for none' }),
    target: integer(0, { min: 0, max: 100_000, describe: 'above the entry; 0 for none' }),
  },
  create: ({ fast, slow, size, stop, target }): Strategy => {
    let closes: number[] = [];
    let entry = 0;
    let isLong = false;
    let wasClosed = false;
    let isProtected = false;
    return {
      async onBar(bar, context) {
        closes = [...closes, bar.close].slice(-slow);
        // grademark allows an entry from the bar after the end of a position.
        const ended = wasClosed;
        wasClosed = false;
        if (closes.length < slow || ended) return;
        const up = mean(closes.slice(-fast)) > mean(closes);
        if (!isLong) {
          if (up) await context.submit({ side: 'buy', size });
          return;
        }
        if (!isProtected) {
          isProtected = true;
          const market = context.market();
          const leg = { side: 'sell', size, reduceOnly: true } as const;
          if (stop > 0) {
            const triggerPrice = market.price(entry - stop);
            await context.submit({ ...leg, orderType: 'stopLoss', triggerPrice });
          }
          if (target > 0) {
            const triggerPrice = market.price(entry + target);
            await context.submit({ ...leg, orderType: 'takeProfit', triggerPrice });
          }
          // No exit rule applies to the bar of the entry.
          return;
        }
        if (!up) await context.submit({ side: 'sell', size, reduceOnly: true });
      },
      onFill(fill) {
        isLong = Number(fill.position) > 0;
        isProtected = false;
        if (isLong) entry = Number(fill.price);
        else wasClosed = true;
      },
    };
  },
});

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
