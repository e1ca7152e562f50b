/* eslint no-restricted-exports: off -- a strategy file exports its definition */
/**
 * Logs every update with its time, reads clocks and random numbers, and sends every type of order
 * from timers, so that two runs with any difference have different logs.
 */
import { choice, defineStrategy, integer, type StrategyContext } from 'orrery/strategy';

export default defineStrategy({
  name: 'tester',
  parameters: {
    /**
     * `leverage`: buys once with all of its money; `quiet`: only receives updates; `late`: quotes
     * inside the spread when the data have ended.
     */
    style: choice('mixed', ['mixed', 'leverage', 'quiet', 'late']),
    everyMs: integer(350, { min: 1, max: 86_400_000 }),
    barS: integer(1, { min: 1, max: 86_400 }),
  },
  barsUs: ({ barS }) => [barS * 1_000_000, 5 * barS * 1_000_000],
  bookDepth: 4,
  create: ({ style, everyMs }) => {
    const prices = new Map<string, number>();
    const open: string[] = [];
    let step = 0;
    const show = (context: StrategyContext, what: string, update: unknown): void => {
      // Order ids contain the account, which differs.
      const text = JSON.stringify(update, (key, value: unknown) =>
        key === 'orderId' ? undefined : value,
      );
      context.log(`${String(context.now())} ${String(Date.now())} ${what} ${text}`);
    };
    const attempt = async (
      context: StrategyContext,
      order: Parameters<StrategyContext['submit']>[0],
    ): Promise<void> => {
      try {
        const records = await context.submit(order);
        for (const record of records) open.push(record.orderId);
        show(
          context,
          'placed',
          records.map(({ status, quantity, price }) => [status, quantity, price]),
        );
      } catch (error) {
        show(context, 'refused', (error as Error).message);
      }
    };
    const act = async (context: StrategyContext): Promise<void> => {
      const symbol = context.symbols[step % context.symbols.length] ?? context.symbol;
      const market = context.market(symbol);
      const price = prices.get(symbol);
      if (price === undefined) return;
      const size = '0.05';
      const side = context.random.next() < 0.5 ? 'buy' : 'sell';
      const sign = side === 'buy' ? 1 : -1;
      switch (step % 9) {
        case 0:
          await attempt(context, {
            side,
            size,
            symbol,
            takeProfit: market.price(price + sign * 1.5),
            stopLoss: market.price(price - sign * 1.5),
          });
          break;
        case 1:
          await attempt(context, {
            side,
            size,
            symbol,
            price: market.price(price - sign * 0.4),
            postOnly: true,
          });
          break;
        case 2:
          await attempt(context, {
            side,
            size,
            symbol,
            orderType: 'stopLoss',
            price: market.price(price + sign * 3),
            triggerPrice: market.price(price + sign * 0.6),
          });
          break;
        case 3:
          await attempt(context, {
            side,
            size: '0.09',
            symbol,
            price: market.price(price + sign * 0.2),
          });
          break;
        case 4:
          await attempt(context, {
            side,
            size,
            symbol,
            orderType: 'trailingStop',
            price: market.price(price + sign * 20),
            trailingPercent: '0.05',
          });
          break;
        case 5:
          await attempt(context, {
            side,
            size: '0.12',
            symbol,
            orderType: 'twap',
            price: market.price(price + sign * 20),
            periodMs: Math.max(1000, everyMs),
            expiresAt: Math.floor(context.now() / 1000) + 10 * Math.max(1000, everyMs),
          });
          break;
        case 6: {
          const id = open.shift();
          if (id !== undefined) show(context, 'cancel', await context.cancel(id));
          break;
        }
        case 7:
          await attempt(context, {
            side,
            size,
            symbol,
            orderType: 'takeProfit',
            price: market.price(price - sign * 20),
            triggerPrice: market.price(price - sign * 0.5),
          });
          break;
        default:
          await context.cancelAll(symbol);
          show(context, 'all cancelled', symbol);
      }
    };
    const read = async (context: StrategyContext): Promise<void> => {
      const held = await context.client.call('getPositions', {
        account: context.account,
        subaccountIndex: context.subaccountIndex,
      });
      show(
        context,
        'positions',
        held.map(({ symbol, quantity, funding }) => [symbol, quantity, funding]),
      );
      const book = await context.client.call('getBook', { symbol: context.symbol });
      show(context, 'book', [book.bids[0], book.asks[0]]);
    };
    return {
      onStart(context) {
        show(context, 'start', [new Date().toISOString(), Math.random(), context.symbols]);
        context.setTimer('act', everyMs * 1000);
        setTimeout(() => {
          show(context, 'global timer', Math.random());
        }, 1234);
      },
      onBook(update, context) {
        if (update.mid !== null) prices.set(update.symbol, update.mid);
        show(context, 'book', update);
      },
      onTrade(update, context) {
        prices.set(update.symbol, Number(update.price));
        show(context, 'trade', update);
      },
      onBar(update, context) {
        prices.set(update.symbol, update.close);
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
        context.setTimer('act', everyMs * 1000);
        if (context.warmingUp || style === 'quiet' || style === 'late') return;
        if (style === 'mixed') await act(context);
        else if (step < 8 * context.symbols.length) {
          const symbol = context.symbols[step % context.symbols.length] ?? context.symbol;
          await attempt(context, { side: 'buy', size: '0.12', symbol });
        }
        step += 1;
        if (step % 4 === 0) await read(context);
      },
      async onStop(context) {
        await context.cancelAll();
        show(context, 'stop', await context.position());
        if (style !== 'late') return;
        const market = context.market();
        const bid = context.book()?.bid?.price ?? 0;
        await attempt(context, {
          side: 'buy',
          size: '0.05',
          price: market.price(Number(bid) + 0.1),
        });
        await read(context);
      },
    };
  },
});
