/**
 * TWAP execution: buys or sells a size in equal slices at fixed intervals. Each slice rests at the
 * best price for most of its interval; the remainder is executed as taker at its end. At the end it
 * logs the cost against the mid at the start.
 */
import {
  choice,
  decimal,
  defineStrategy,
  integer,
  MatcherError,
  number,
  type Strategy,
  type StrategyContext,
} from 'orrery/strategy';

const RETRY_US = 1_000_000;

export default defineStrategy({
  name: 'twap execution',
  parameters: {
    side: choice('buy', ['buy', 'sell'], 'side of the execution'),
    size: decimal('0.2', { min: '0.001', max: '1000', step: '0.001', describe: 'total size' }),
    slices: integer(10, { min: 1, max: 1000, describe: 'number of slices' }),
    everyS: integer(20, { min: 1, max: 86_400, describe: 'seconds between slices' }),
    patience: number(0.8, {
      min: 0,
      max: 1,
      describe: 'fraction of an interval to rest at the best price',
    }),
  },

  create: ({ side, size, slices, everyS, patience }): Strategy => {
    let sent = 0;
    let filled = 0;
    let cost = 0;
    let arrivalMid: number | null = null;
    let mid: number | null = null;
    let touch = 0;
    let waiting: string | null = null;

    /** Size due by the end of this slice minus the size filled. */
    const due = (): number => (Number(size) * sent) / slices - filled;

    /** Cancels the order that rests, so that its size is due again. */
    async function withdraw(context: StrategyContext): Promise<void> {
      if (waiting === null) return;
      await context.cancel(waiting);
      waiting = null;
    }

    async function take(context: StrategyContext): Promise<void> {
      await withdraw(context);
      const left = context.market().size(due(), 'nearest');
      if (Number(left) > 0) await context.submit({ side, size: left });
    }

    async function rest(context: StrategyContext): Promise<void> {
      await withdraw(context);
      const part = context.market().size(due(), 'nearest');
      if (Number(part) === 0 || patience === 0) return;
      const price = context.market().price(touch);
      const [order] = await context.submit({ side, size: part, price });
      if (order?.status === 'new' || order?.status === 'partiallyFilled') waiting = order.orderId;
    }

    /** After a failed request, such as on a lost connection, the rest is taken a little later. */
    async function trying(work: Promise<void>, context: StrategyContext): Promise<void> {
      try {
        await work;
      } catch (error) {
        if (!(error instanceof MatcherError)) throw error;
        context.log(error.message);
        context.setTimer('take', RETRY_US);
      }
    }

    return {
      onStart(context) {
        context.setTimer('slice', 1_000_000);
      },
      onBook(book, context) {
        // Updates of the other markets of the data arrive as well.
        if (book.symbol !== context.symbol) return;
        mid = book.mid;
        touch = Number((side === 'buy' ? book.bid : book.ask)?.price ?? 0);
      },
      async onTimer(name, context) {
        if (name === 'take') {
          await trying(take(context), context);
          return;
        }
        if (mid === null || context.warmingUp) {
          context.setTimer('slice', 1_000_000);
          return;
        }
        arrivalMid ??= mid;
        sent += 1;
        if (sent < slices) context.setTimer('slice', everyS * 1e6);
        context.setTimer('take', Math.max(1, everyS * 1e6 * patience));
        await trying(rest(context), context);
      },
      onFill(fill, context) {
        const part = Math.abs(Number(fill.quantity));
        filled += part;
        cost += part * Number(fill.price);
        if (sent < slices || filled < Number(size) - 1e-9 || arrivalMid === null) return;
        const average = cost / filled;
        const worse = (side === 'buy' ? average - arrivalMid : arrivalMid - average) / arrivalMid;
        context.log(
          `${side} ${size} at ${average.toFixed(2)}, ${(worse * 1e4).toFixed(2)} bp against the mid at arrival`,
        );
      },
      save: () => ({ sent, filled, cost, arrivalMid, mid, touch, waiting }),
      load: (saved) => {
        ({ sent, filled, cost, arrivalMid, mid, touch, waiting } = saved as {
          sent: number;
          filled: number;
          cost: number;
          arrivalMid: number | null;
          mid: number | null;
          touch: number;
          waiting: string | null;
        });
      },
    };
  },
});
