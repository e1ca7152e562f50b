/**
 * {{name}}: market maker. Keeps one post-only order on each side, at a distance from the mid price,
 * and moves both against its inventory: after a buy it bids lower and offers lower.
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
type Orders = Record<Side, { orderId: string; price: string } | null>;

export default defineStrategy({
  name: '{{name}}',
  parameters: {
    size: decimal('0.01', {
      min: '0.001',
      max: '100',
      step: '0.001',
      describe: 'size of an order',
    }),
    halfSpreadBp: number(1, {
      min: 0,
      max: 100,
      describe: 'distance from the mid price, 1/10,000',
    }),
    skewBp: number(0.5, {
      min: 0,
      max: 100,
      describe: 'shift of both prices for each unit of inventory, 1/10,000',
    }),
    maxUnits: integer(5, { min: 1, max: 100, describe: 'max position, in orders' }),
    maxLoss: decimal('1000', {
      min: '1',
      max: '1000000000',
      step: '1',
      describe: 'loss at which it closes its position and stops',
    }),
    refreshMs: integer(500, { min: 1, max: 600_000, describe: 'least time between updates, ms' }),
  },

  create: ({ size, halfSpreadBp, skewBp, maxUnits, maxLoss, refreshMs }): Strategy => {
    let mid: number | null = null;
    let touch = { bid: 0, ask: Infinity };
    let units = 0;
    /** Paid and received for fills, with fees. */
    let cash = 0;
    let stopped = false;
    let orders: Orders = { buy: null, sell: null };
    let busy = false;
    /** Whether the timer is set: without a change of the book or of the position it is not. */
    let waits = false;

    function refresh(context: StrategyContext): void {
      if (waits || stopped) return;
      waits = true;
      context.setTimer('refresh', refreshMs * 1000);
    }

    async function quote(side: Side, target: number, context: StrategyContext): Promise<void> {
      const isFull = side === 'buy' ? units >= maxUnits : units <= -maxUnits;
      const price = isFull ? null : context.market().price(target, side === 'buy' ? 'down' : 'up');
      const current = orders[side];
      if (current !== null) {
        if (current.price === price) return;
        // It may have been filled meanwhile; then the next update quotes again.
        orders[side] = null;
        if (!(await context.cancel(current.orderId))) return;
      }
      if (price === null) return;
      const [order] = await context.submit({ side, size, price, postOnly: true });
      if (order?.status === 'new') orders[side] = { orderId: order.orderId, price };
    }

    async function stop(context: StrategyContext): Promise<void> {
      stopped = true;
      context.log(`stopped after a loss of ${maxLoss}`);
      await context.cancelAll();
      // Fills of the orders that are cancelled have arrived by now.
      if (units === 0) return;
      const open = context.market().size(Math.abs(units) * Number(size), 'nearest');
      await context.submit({ side: units > 0 ? 'sell' : 'buy', size: open, reduceOnly: true });
    }

    return {
      onBook(book, context) {
        // Books of the other markets of the data arrive as well.
        if (book.symbol !== context.symbol) return;
        mid = book.mid;
        touch = { bid: Number(book.bid?.price ?? 0), ask: Number(book.ask?.price ?? Infinity) };
        refresh(context);
      },
      async onTimer(_name, context) {
        waits = false;
        if (mid === null || context.warmingUp) return;
        if (busy) {
          refresh(context);
          return;
        }
        busy = true;
        const tick = Number(context.market().tickSize);
        const center = mid * (1 - (units * skewBp) / 10_000);
        const half = (mid * halfSpreadBp) / 10_000;
        try {
          if (cash + units * Number(size) * mid < -Number(maxLoss)) {
            await stop(context);
            return;
          }
          // A post-only order at or beyond the best price of the other side is rejected.
          await quote('buy', Math.min(center - half, touch.ask - tick), context);
          await quote('sell', Math.max(center + half, touch.bid + tick), context);
        } catch (error) {
          if (!(error instanceof MatcherError)) throw error;
          context.log(`rejected: ${error.message}`);
        } finally {
          busy = false;
        }
      },
      onOrder(order) {
        if (['new', 'partiallyFilled', 'pending'].includes(order.status)) return;
        for (const side of ['buy', 'sell'] as const) {
          if (orders[side]?.orderId === order.orderId) orders[side] = null;
        }
      },
      onFill(fill, context) {
        refresh(context);
        units = Number(fill.position) / Number(size);
        cash -= Number(fill.price) * Number(fill.quantity) + Number(fill.fee);
      },
      async onStop(context) {
        await context.cancelAll();
      },
      save: () => ({ mid, touch, units, cash, stopped, orders, waits }),
      load: (saved) => {
        ({ mid, touch, units, cash, stopped, orders, waits } = saved as {
          mid: number | null;
          touch: { bid: number; ask: number };
          units: number;
          cash: number;
          stopped: boolean;
          orders: Orders;
          waits: boolean;
        });
      },
    };
  },
});
