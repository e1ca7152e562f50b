/**
 * Grid trading: resting buys below and sells above the start price, one step apart. A filled buy is
 * followed by a sell one step higher, a filled sell by a buy one step lower. Each pair of fills
 * earns one step minus fees while the price oscillates.
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

type Side = 'buy' | 'sell';

export default defineStrategy({
  name: 'grid',
  parameters: {
    size: decimal('0.01', {
      min: '0.001',
      max: '10',
      step: '0.001',
      describe: 'size of each order',
    }),
    levels: integer(5, { min: 1, max: 50, describe: 'orders per side' }),
    stepBp: number(4, {
      min: 0.1,
      max: 1000,
      scale: 'log',
      describe: 'distance of levels, 1/10,000',
    }),
  },
  // Orders are rejected until there is a mark price.
  warmUpUs: () => 2_000_000,

  create: ({ size, levels, stepBp }): Strategy => {
    let centre: number | null = null;
    /** Resting orders with their levels: whole steps from the centre. */
    let orders = new Map<string, { level: number; side: Side }>();

    async function place(level: number, side: Side, context: StrategyContext): Promise<void> {
      const price = (centre ?? 0) * (1 + (level * stepBp) / 1e4);
      try {
        const [order] = await context.submit({
          side,
          size,
          price: context.market().price(price),
          postOnly: true,
        });
        if (order?.status === 'new') orders.set(order.orderId, { level, side });
      } catch (error) {
        if (!(error instanceof MatcherError)) throw error;
        context.log(`level ${String(level)}: ${error.message}`);
      }
    }

    return {
      async onBook(book, context) {
        // Updates of the other markets of the data arrive as well.
        if (book.symbol !== context.symbol) return;
        if (centre !== null || book.mid === null || context.warmingUp) return;
        centre = book.mid;
        for (let level = 1; level <= levels; level++) {
          await Promise.all([place(-level, 'buy', context), place(level, 'sell', context)]);
        }
      },
      async onOrder(order, context) {
        const standing = orders.get(order.orderId);
        if (standing === undefined || order.status !== 'filled') return;
        orders.delete(order.orderId);
        const { level, side } = standing;
        await place(
          side === 'buy' ? level + 1 : level - 1,
          side === 'buy' ? 'sell' : 'buy',
          context,
        );
      },
      async onStop(context) {
        await context.cancelAll();
      },
      save: () => ({ centre, orders }),
      load: (saved) => {
        ({ centre, orders } = saved as { centre: number | null; orders: typeof orders });
      },
    };
  },
});
