/* eslint no-restricted-exports: off -- a strategy file exports its definition */
/** Logs every update, trades in several ways, and so shows any difference of two runs. */
import { defineStrategy, integer, type StrategyContext } from 'orrery/strategy';

export default defineStrategy({
  name: 'observer',
  parameters: { delayTrade: integer(0, { min: 0, max: 1_000_000 }) },
  barsUs: () => [1_000_000],
  bookDepth: 3,
  warmUpUs: () => 2_000_000,
  create: ({ delayTrade }) => {
    let trades = 0;
    let books = 0;
    const show = (context: StrategyContext, what: string, update: unknown): void => {
      // Order ids contain the account, which differs.
      const text = JSON.stringify(update, (key, value: unknown) =>
        key === 'orderId' ? undefined : value,
      );
      context.log(`${String(context.now())} ${what} ${text}`);
    };
    return {
      onStart(context) {
        show(context, 'start', context.warmingUp);
        context.setTimer('trade', 2_500_000);
      },
      onBook(update, context) {
        books += 1;
        if (books % 7 === 0) show(context, 'book', update);
      },
      async onTrade(update, context) {
        trades += 1;
        show(context, 'trade', update);
        if (context.warmingUp || trades % 20 !== 0 || trades === delayTrade) return;
        const position = Number(await context.position());
        show(context, 'position', position);
        const side = position > 0 ? 'sell' : 'buy';
        await context.submit({ side, size: '0.002' }).catch((error: unknown) => {
          show(context, 'refused', (error as Error).message);
        });
      },
      onBar: (update, context) => {
        show(context, 'bar', update);
      },
      onFill: (update, context) => {
        show(context, 'fill', update);
      },
      onOrder: (update, context) => {
        show(context, 'order', update);
      },
      onFunding: (update, context) => {
        show(context, 'funding', update);
      },
      async onTimer(name, context) {
        show(context, name, context.random.next());
        const book = await context.client.call('getBook', { symbol: context.symbol });
        const bid = book.bids[0]?.price;
        if (bid !== undefined) {
          const [order] = await context.submit({
            side: 'buy',
            size: '0.003',
            price: bid,
            postOnly: true,
          });
          await context.sleep(1_200_000);
          if (order !== undefined) show(context, 'cancel', await context.cancel(order.orderId));
        }
        context.setTimer('trade', 700_000);
      },
      async onStop(context) {
        await context.cancelAll();
        show(context, 'stop', await context.position());
      },
    };
  },
});
